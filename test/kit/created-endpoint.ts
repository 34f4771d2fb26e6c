import { createHmac, timingSafeEqual } from 'node:crypto';
import { expect } from 'vitest';
import type { ReceivedMessage, WebhookSink } from './fakes/webhook-sink.ts';
import type { TestClient } from './test-client.ts';

export interface TestEndpoint {
  readonly id: string;
  readonly secret: string;
  readonly path: string;
}

/** Creates an endpoint at a sink, as its owner. */
export async function createdEndpoint(client: TestClient, sink: WebhookSink, more: object = {}): Promise<TestEndpoint> {
  const { status, body } = await client.post('/v1/webhook-endpoints', {
    name: `sink ${Math.random()}`,
    url: sink.url,
    topics: ['task.*'],
    scopes: ['task:read'],
    ...more,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return { id: body.id, secret: body.secret, path: `/v1/webhook-endpoints/${body.id}` };
}

/** Checks a message as a receiver does (Standard Webhooks 1.0.0). @returns its id */
export function verified({ headers, body }: ReceivedMessage, secret: string, at: Date): string {
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  expect(Math.abs(at.getTime() / 1_000 - Number(timestamp))).toBeLessThan(300);
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const wanted = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  const signatures = String(headers['webhook-signature'])
    .split(' ')
    .map((part) => part.split(','));
  const isSigned = signatures.some(([version, text = '']) => {
    const given = Buffer.from(text, 'base64');
    return version === 'v1' && given.length === wanted.length && timingSafeEqual(given, wanted);
  });
  expect(isSigned, `${id} is not signed with the secret`).toBe(true);
  return id;
}
