import type { Account } from '../../access/access.ts';
import { Failure } from '../../errors.ts';
import { finish, type Steps } from '../../steps.ts';
import type { McpParts } from '../parts.ts';

/** Messages of one batch (2025-03-26 allows them): a short one may ask for long answers. */
const BATCH_MAX = 50;

/** A posted body as the messages that it should be. Throws `Failure`, 422, for none and for too many. */
export function batchOf(body: unknown): unknown[] {
  const batch = Array.isArray(body) ? body : [body];
  if (batch.length >= 1 && batch.length <= BATCH_MAX) return batch;
  throw notMessages();
}

/** Delivers the messages of a batch, each in a turn of its own: a batch asks for as much as many posts. */
export class BatchDelivery<Message> {
  private readonly waiting: Message[] = [];
  private isUnderWay = false;

  constructor(
    private readonly parts: Pick<McpParts, 'scheduler' | 'charge'>,
    private readonly account: Account,
    private readonly deliver: (message: Message) => void,
  ) {}

  add(message: Message): void {
    this.waiting.push(message);
    if (this.isUnderWay) return;
    this.isUnderWay = true;
    // Refused if too much is under way: then the messages are delivered at once, and what they ask for is refused by name.
    new Promise((resolve) =>
      resolve(this.parts.scheduler.run({ account: this.account.id, name: 'mcp batch', steps: this.deliveries() })),
    ).catch(() => finish(this.deliveries()));
  }

  private *deliveries(): Steps<void> {
    try {
      for (let message = this.waiting.shift(); message !== undefined; message = this.waiting.shift()) {
        this.deliver(message);
        yield { message: 'Delivering a message' };
      }
    } finally {
      this.isUnderWay = false;
    }
  }
}

export function notMessages(): Failure {
  return new Failure('invalid_body', 'The body is not a JSON-RPC 2.0 message', {
    hint: `Send {"jsonrpc":"2.0","id":1,"method":"tools/list"}, or an array of 1 to ${BATCH_MAX} such messages.`,
  });
}
