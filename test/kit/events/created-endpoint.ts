import { Webhook } from 'standardwebhooks';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect, vi } from 'vitest';
import { registry } from '#entities/index.ts';
import { eventCatalogue } from '#entities/kit/model/event-catalogue.ts';
import type { ReceivedMessage, WebhookSink } from '../fakes/webhook-sink.ts';
import type { TestClient } from '../test-client.ts';

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

/** Checks a message with the verifier that receivers use, at a time of the test, and its body with the schema of its type. @returns its id */
export function verified({ headers, body }: ReceivedMessage, secret: string, at: Date): string {
  vi.useFakeTimers({ toFake: ['Date'], now: at });
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
  const message = JSON.parse(body) as { readonly type: string };
  const schema = eventCatalogue(registry).find(({ topic, isPublic }) => isPublic && topic === message.type)?.schema;
  // A test message is about no event.
  if (message.type !== 'webhook_endpoint.tested')
    expect(schema && Compile(Type.Unsafe(schema)).Errors(message), message.type).toEqual([]);
  return String(headers['webhook-id']);
}
