import { AppError } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { deriveKey, isSignedBy, sign } from '#entities/kit/base/secrets/keys.ts';
import type { FeedPosition } from '#entities/kit/outbox/feed-position.ts';

/** Time for which a cursor is valid, in microseconds. The changes since are kept for that time at least (`record_changes`). */
const maxAgeUs = 24n * 60n * 60n * 1_000_000n;

/** Snapshot, time and epoch; then, within a batch, those up to which it is, and the last change. */
type Sealed = readonly [string, string, string] | readonly [string, string, string, string, string, string, string];

/** The cursors of subscriptions: signed, so that nobody makes one up. They name no record and give no right. @param secret `sessions.signingkey` */
export class SubscriptionCursors {
  readonly #secret: () => string;

  constructor(secret: () => string) {
    this.#secret = secret;
  }

  seal({ snapshot, time, epoch, within }: FeedPosition): string {
    const sealed: Sealed = within
      ? [snapshot, time, epoch, within.to.snapshot, within.to.time, within.xid, within.id]
      : [snapshot, time, epoch];
    const text = Buffer.from(JSON.stringify(sealed)).toString('base64url');
    return `${text}.${sign(this.#key, [text]).toString('base64url')}`;
  }

  /**
   * @param now the newest position
   * @throws AppError invalid_input for what is no cursor, cursor_expired for one that is too old, or of another database
   */
  open(cursor: string, now: Pick<FeedPosition, 'time' | 'epoch'>): FeedPosition {
    const [text = '', signature = '', ...rest] = cursor.split('.');
    if (rest.length > 0 || !isSignedBy(this.#key, [text], signature))
      throw inputError([
        { path: '/after', message: 'is not a cursor of a subscription: send the last `cursor` as it was received' },
      ]);
    const [snapshot, time, epoch, toSnapshot, toTime, xid, id] = JSON.parse(
      Buffer.from(text, 'base64url').toString(),
    ) as readonly [string, string, string, string?, string?, string?, string?];
    if (epoch !== now.epoch || BigInt(now.time) - BigInt(time) > maxAgeUs) throw expired();
    if (toSnapshot === undefined || toTime === undefined || xid === undefined || id === undefined)
      return { snapshot, time, epoch };
    return { snapshot, time, epoch, within: { to: { snapshot: toSnapshot, time: toTime, epoch }, xid, id } };
  }

  get #key(): Buffer {
    return deriveKey(this.#secret(), 'subscription-cursor');
  }
}

function expired(): AppError {
  return new AppError(
    'cursor_expired',
    'The cursor is too old to continue from: subscribe without `after`, then read the records again.',
  );
}
