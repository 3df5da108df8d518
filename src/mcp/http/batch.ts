import type { Account } from '../../access/access.ts';
import { ClientError } from '../../core/errors.ts';
import { runToCompletion, type Steps } from '../../core/steps.ts';
import type { McpDeps } from '../mcp-deps.ts';

/** Maximum number of messages in a batch of revision 2025-03-26. The maximum is low, because even a short message can cause much work. */
const BATCH_MAX = 50;

/** Returns the messages of a posted body. Throws `ClientError` (422) if there are no messages or too many messages. */
export function batchOf(body: unknown): unknown[] {
  const batch = Array.isArray(body) ? body : [body];
  if (batch.length >= 1 && batch.length <= BATCH_MAX) return batch;
  throw invalidMessages();
}

/** Delivers the messages of a batch in separate steps of the scheduler, because a batch can cause as much work as many POSTs. */
export class BatchDelivery<Message> {
  private readonly waiting: Message[] = [];
  private isUnderWay = false;

  constructor(
    private readonly deps: Pick<McpDeps, 'scheduler' | 'charge'>,
    private readonly account: Account,
    private readonly deliver: (message: Message) => void,
  ) {}

  add(message: Message): void {
    this.waiting.push(message);
    if (this.isUnderWay) return;
    this.isUnderWay = true;
    // If the account has too many jobs, the scheduler rejects this job. The code then delivers all messages at once, and the scheduler
    // rejects the job of each call for the same reason.
    new Promise((resolve) =>
      resolve(this.deps.scheduler.run({ account: this.account.id, name: 'mcp batch', steps: this.deliveries() })),
    ).catch(() => runToCompletion(this.deliveries()));
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

export function invalidMessages(): ClientError {
  return new ClientError('invalid_body', 'The body is not a JSON-RPC 2.0 message', {
    hint: `Send {"jsonrpc":"2.0","id":1,"method":"tools/list"}, or an array of 1 to ${BATCH_MAX} such messages.`,
  });
}
