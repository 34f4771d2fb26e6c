import { createHmac } from 'node:crypto';
import { newId } from '#entities/kit/base/ids.ts';
import type { TestAnswer } from '../test-client.ts';
import type { World } from '../world.ts';

/** A request of another system, signed as Standard Webhooks describes it. */
export interface SignedWebhook {
  readonly url: string;
  readonly secret: string;
  readonly body: string;
  readonly id?: string;
  /** How long after now it is signed, in seconds. */
  readonly offsetS?: number;
}

export function sendSigned(
  world: World,
  { url, secret, body, id = newId(), offsetS = 0 }: SignedWebhook,
): Promise<TestAnswer> {
  const timestamp = String(Math.floor(world.clock.now().getTime() / 1_000) + offsetS);
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return world.client().request({
    method: 'POST',
    url,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
      'content-type': 'application/json',
    },
    payload: body,
  });
}
