import { createHmac } from 'node:crypto';
import { newId } from '#entities/kit/base/ids.ts';
import type { TestAnswer } from '../test-client.ts';
import type { World } from '../world.ts';

export const paymentSecret = 'whsec_secret_of_the_payment_webhook';

/** A request of the payment provider. */
export interface PaymentDelivery {
  /** Secret with which it is signed. */
  readonly secret?: string;
  /** Seconds from the clock of the server to that of the signature. */
  readonly offsetS?: number;
  /** Text that is signed, where it is not the one that is sent. */
  readonly signed?: string;
  /** The query; none when left out. */
  readonly query?: string;
  /** The header of the signature, in place of a right one. */
  readonly header?: string;
}

/** An event of the provider about a customer. */
export function paymentEvent(customer: string, more: object = {}): Record<string, unknown> {
  return {
    id: `evt_${newId()}`,
    object: 'event',
    api_version: '2026-02-25.clover',
    created: 1_780_000_000,
    livemode: false,
    type: 'customer.subscription.updated',
    data: { object: { id: `sub_${newId()}`, object: 'subscription', customer } },
    ...more,
  };
}

export function paymentSignature(body: string, secret: string, timestamp: number): string {
  return `t=${timestamp},v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

/** Sends a body as the provider does. */
export function deliverPayment(
  { clock, client }: Pick<World, 'clock' | 'client'>,
  body: string,
  { secret = paymentSecret, offsetS = 0, signed = body, query = '', header }: PaymentDelivery = {},
): Promise<TestAnswer> {
  const timestamp = Math.floor(clock.now().getTime() / 1_000) + offsetS;
  return client().request({
    method: 'POST',
    url: `/v1/payment/webhook${query}`,
    headers: {
      'content-type': 'application/json',
      'stripe-signature': header ?? paymentSignature(signed, secret, timestamp),
    },
    payload: body,
  });
}
