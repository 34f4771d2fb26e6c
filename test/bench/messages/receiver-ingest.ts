import { createHmac } from 'node:crypto';
import { newId } from '#entities/kit/base/ids.ts';
import { openApiInstallation } from '../api-installation.ts';
import { BenchProcess } from '../bench-process.ts';
import { duel } from '../duel.ts';
import type { LoadRequest } from '../load-generator.ts';
import type { Bench } from '../row.ts';

const svixSecret = `whsec_${Buffer.from('secret of the mail provider').toString('base64')}`;
const path = '/v1/email/webhook/providera';

/** Signed events of a mail provider that are stored, each with an id of its own; against Fastify and pg. */
export const receiverIngest: Bench = {
  name: 'receiver-ingest',
  run: async (say) => {
    const installation = await openApiInstallation({
      CORE_INTEGRATIONS_EMAIL_PROVIDERA_WEBHOOKSECRET: svixSecret,
    });
    const { client, databaseUrl, url } = installation;
    const floor = new BenchProcess('test/bench/messages/receiver-floor.ts', {
      FLOOR_DATABASE: databaseUrl,
      FLOOR_SECRET: svixSecret,
    });
    try {
      const { url: floorUrl } = await floor.next<{ url: string }>();
      const requests: LoadRequest[] = [{ method: 'POST', path, body: eventOfMail(), svixSecret }];
      const left = [];
      for (const side of [url, floorUrl]) left.push(await rowsLeftBy(client, side));
      if (left[0] !== left[1]) throw new Error(`receiver-ingest: the two leave other rows: ${left.join(' and ')}`);
      return await duel({
        name: 'receiver-ingest',
        ours: { url, requests },
        reference: { url: floorUrl, requests },
        note: 'signed events of a mail provider, stored once; reference: Fastify and pg, one statement that leaves the same rows',
        say,
      });
    } finally {
      await floor.stop();
      await installation.close();
    }
  },
};

/** What the provider reports of a mail. */
function eventOfMail(): object {
  return {
    type: 'email.delivered',
    created_at: new Date().toISOString(),
    data: { email_id: newId(), to: ['somebody@example.com'], tags: { email_id: newId() } },
  };
}

/** Sends an event twice, and once with another body than the signed one. @returns rows that are there afterwards, by table, and statuses */
async function rowsLeftBy(
  client: Awaited<ReturnType<typeof openApiInstallation>>['client'],
  url: string,
): Promise<string> {
  const counts = async () => {
    const { rows } = await client.query<Record<string, number>>(
      `select (select count(*)::int from webhook_events) as webhook_events,
         (select count(*)::int from events where topic = 'webhook_event.received' and pending) as events,
         (select count(*)::int from history where entity_kind = 'webhook_event') as history`,
    );
    return Object.entries(rows[0] ?? {});
  };
  const before = new Map(await counts());
  const [id, timestamp, body] = [newId(), String(Math.floor(Date.now() / 1_000)), JSON.stringify(eventOfMail())];
  const key = Buffer.from(svixSecret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const statuses = [];
  for (const sent of [body, body, body.replace('delivered', 'opened')]) {
    const headers = {
      'content-type': 'application/json',
      'svix-id': id,
      'svix-timestamp': timestamp,
      'svix-signature': `v1,${signature}`,
    };
    statuses.push((await fetch(`${url}${path}`, { method: 'POST', headers, body: sent })).status);
  }
  const added = (await counts()).map(([table, count]) => [table, count - (before.get(table) ?? 0)]);
  return JSON.stringify([statuses, added]);
}
