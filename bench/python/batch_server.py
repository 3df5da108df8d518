"""A server of batches of Greeks: FastAPI on uvicorn (with uvloop and httptools), numpy and orjson. It prints its address when it is ready."""

import socket

import numpy as np
import orjson
import uvicorn
from fastapi import FastAPI, Request, Response

from greeks import NAMES, greeks

app = FastAPI()


@app.post("/api/v1/physics/greeks/batch")
async def batch(request: Request) -> Response:
    body = orjson.loads(await request.body())
    sides = np.frombuffer("".join(body["put_call"]).encode(), np.uint8)
    columns = (np.asarray(body[name]) for name in ("spot", "strike", "tte", "iv", "rate", "dividend"))
    answer = dict(zip(NAMES, greeks(np.where(sides == ord("C"), 1.0, -1.0), *columns)))
    text = orjson.dumps({"count": len(sides), "units": "market", **answer}, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(text, media_type="application/json")


if __name__ == "__main__":
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    # Connections wait here until uvicorn accepts them. Without this call they are refused.
    listener.listen()
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, loop="uvloop", http="httptools", log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listener])
