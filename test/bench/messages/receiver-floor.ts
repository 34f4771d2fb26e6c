import { createHmac, timingSafeEqual } from 'node:crypto';
import Fastify from 'fastify';
import { Pool } from 'pg';
import { newId } from '#entities/kit/base/ids.ts';

/** The floor of receivers: Fastify and pg alone. It checks the signature and leaves the same rows with one statement. */
const pool = new Pool({ connectionString: process.env['FLOOR_DATABASE'] ?? '', max: 20, min: 20 });
const key = Buffer.from((process.env['FLOOR_SECRET'] ?? '').slice('whsec_'.length), 'base64');

const store = `with stored as (
    insert into webhook_events (id, created_at, updated_at, created_by, updated_by, record_version, provider, external_id, type, occurred_at)
    values ($1, $2, $2, 'system:receiver', 'system:receiver', 1, 'providera', $3, $4, $5) on conflict do nothing returning id),
  noted as (
    insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version, changed_fields, snapshot, actor, request_id)
    select $6::text, $2::timestamptz, 'webhook_event', id, null, 'created', 1, $7::text[], $8::jsonb, 'system:receiver', $9::text from stored)
  insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, organization_id, actor, request_id, payload, pending)
  select $10::text, $2::timestamptz, 'webhook_event.received', 'webhook_event', id, 1, null, 'system:receiver', $9::text, $11::jsonb, true from stored`;

interface MailEvent {
  readonly type: string;
  readonly created_at: string;
  readonly data: { readonly to: readonly string[]; readonly tags: { readonly email_id: string } };
}

const app = Fastify();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

app.route({
  method: 'POST',
  url: '/v1/email/webhook/providera',
  handler: async (request, reply) => {
    const { 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': signature } = request.headers;
    const body = request.body as Buffer;
    const expected = createHmac('sha256', key)
      .update(`${String(id)}.${String(timestamp)}.`)
      .update(body)
      .digest();
    const given = Buffer.from(String(signature).slice('v1,'.length), 'base64');
    const isRecent = Math.abs(Number(timestamp) - Date.now() / 1_000) <= 300;
    if (!isRecent || given.length !== expected.length || !timingSafeEqual(given, expected))
      return reply.code(401).send();
    const { type, created_at: occurredAt, data } = JSON.parse(body.toString()) as MailEvent;
    const values = { outcome: type.slice('email.'.length), emailId: data.tags.email_id, address: data.to[0] };
    const fields = { provider: 'providera', externalId: id, type, apiVersion: null, occurredAt };
    await pool.query({
      name: 'store',
      text: store,
      values: [
        newId(),
        new Date(),
        id,
        type,
        occurredAt,
        newId(),
        Object.keys(fields),
        JSON.stringify(fields),
        request.id,
        newId(),
        JSON.stringify({ provider: 'providera', type, occurredAt, values }),
      ],
    });
    return { message: 'The event was received.' };
  },
});

process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
