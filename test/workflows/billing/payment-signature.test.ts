import { describe, expect, test } from 'vitest';
import { hasPaymentSignature } from '#activities/clients/payment/payment-signature.ts';
import { signatureOf } from '../../kit/fakes/fake-payment/payment-events.ts';

const secret = 'whsec_1';
const body = '{"id":"evt_1","type":"invoice.paid"}';
const now = new Date('2027-03-04T05:06:07.890Z');
const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
const isSigned = (header: string | undefined, text: string | Buffer = body) =>
  hasPaymentSignature(text, header, secret, now);

describe('a signature of the payment provider', () => {
  test.each([0, 299, -299])('is accepted %d seconds from our time', (seconds) => {
    expect(isSigned(signatureOf(body, secret, at(seconds)))).toBe(true);
  });

  test.each([301, -301, 86_400 * 365])('is refused %d seconds from our time', (seconds) => {
    expect(isSigned(signatureOf(body, secret, at(seconds)))).toBe(false);
  });

  test('is for the bytes that were received', () => {
    const text = '{"name":"Zoë"}';
    const header = signatureOf(text, secret, now);
    expect(isSigned(header, Buffer.from(text))).toBe(true);
    expect(isSigned(header, Buffer.from(text.replace('Z', 'z')))).toBe(false);
    expect(isSigned(header, Buffer.alloc(0))).toBe(false);
  });

  test('is that of one secret', () => {
    expect(isSigned(signatureOf(body, 'whsec_2', now))).toBe(false);
    expect(hasPaymentSignature(body, signatureOf(body, '', now), '', now)).toBe(false);
  });

  test('is one of several, while a secret is replaced', () => {
    const [time = '', valid = ''] = signatureOf(body, secret, now).split(',');
    const [, other = ''] = signatureOf(body, 'whsec_2', now).split(',');
    expect(isSigned([time, other, valid].join(','))).toBe(true);
    expect(isSigned([time, other].join(','))).toBe(false);
  });

  test.each([undefined, '', 'v1=', 't=,v1=', 't=x,v1=y', 'garbage', 't=1,,,=', 'v0=1'])('is not %j', (header) => {
    expect(isSigned(header)).toBe(false);
  });

  test('has one time', () => {
    const header = signatureOf(body, secret, at(-1_000));
    expect(isSigned(`${header},t=${Math.floor(now.getTime() / 1_000)}`)).toBe(false);
    expect(isSigned(`t=${Math.floor(now.getTime() / 1_000)},${header}`)).toBe(false);
  });
});
