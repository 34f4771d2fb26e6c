import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiMemory } from './api-memory.ts';
import { apiToken } from './api-token-rate.ts';
import { approvalLatency } from './approval-latency.ts';
import { authzWarm } from './authz-warm.ts';
import { bulkContention } from './bulk-contention.ts';
import { createOneOrganization } from './create-one-organization.ts';
import { derive110 } from './derive-110.ts';
import { eventBurnDown } from './event-burn-down.ts';
import { eventLatency } from './event-latency.ts';
import { backupMany } from './files/backup-many.ts';
import { downloadLarge, downloadRange } from './files/download-rate.ts';
import { uploadLarge, uploadLargeBucket, uploadLargeResumable } from './files/upload-large.ts';
import { uploadMany } from './files/upload-many.ts';
import { uploadMemory } from './files/upload-memory.ts';
import { inboxAt1m } from './inbox-at-1m.ts';
import { subscriptionFanOut, subscriptionIdle } from './subscriptions.ts';
import { gateNone } from './gate-none.ts';
import { graphqlNested } from './graphql-nested.ts';
import { keyRotation } from './key-rotation.ts';
import { loginRate, loginStarvation } from './login-rate.ts';
import { burnDownEndpoints } from './messages/burn-down-endpoints.ts';
import { createAnnounced } from './messages/create-announced.ts';
import { digest10k } from './messages/digest-10k.ts';
import { eventFairness } from './messages/event-fairness.ts';
import { receiverIngest } from './messages/receiver-ingest.ts';
import { webhookDelivery } from './messages/webhook-delivery.ts';
import { webhookLatency } from './messages/webhook-latency.ts';
import { webhookNeighbours } from './messages/webhook-neighbours.ts';
import { organizationCreate } from './organization-create.ts';
import { organizationDelete } from './organization-delete.ts';
import { paymentWebhook } from './payment-webhook.ts';
import { rateLimitMemory, rateLimitRedis } from './limited-rate.ts';
import { refreshRate } from './refresh-rate.ts';
import { listAt1m, searchAt1m } from './large-tables.ts';
import { celHostile } from './cel-hostile.ts';
import { complexity } from './complexity.ts';
import { fullStack } from './full-stack.ts';
import { switchedMiddleware } from './switched-middleware.ts';
import { livez, restCreate, restList, restRead } from './rest.ts';
import type { Bench, BenchRow } from './row.ts';
import { startCold } from './start-cold.ts';
import { startWarm } from './start-warm.ts';
import { suite } from './suite.ts';
import { integrationIngest } from './integration-ingest.ts';
import { sweep100k } from './sweep-100k.ts';
import { tokenVerify } from './token-verify.ts';
import { csvImport, exportRecords } from './transfer-rates.ts';

/** `npm run bench` runs all short ones, `npm run bench -- NAME…` those that are named. Nothing is asserted. */
const benches: readonly Bench[] = [
  authzWarm,
  startWarm,
  startCold,
  suite,
  eventLatency,
  eventBurnDown,
  burnDownEndpoints,
  eventFairness,
  createAnnounced,
  webhookDelivery,
  webhookLatency,
  webhookNeighbours,
  receiverIngest,
  paymentWebhook,
  sweep100k,
  integrationIngest,
  digest10k,
  livez,
  restRead,
  restList,
  restCreate,
  apiToken,
  rateLimitMemory,
  rateLimitRedis,
  ...switchedMiddleware,
  ...fullStack,
  complexity,
  celHostile,
  gateNone,
  approvalLatency,
  createOneOrganization,
  organizationCreate,
  organizationDelete,
  bulkContention,
  apiMemory,
  graphqlNested,
  derive110,
  loginRate,
  loginStarvation,
  tokenVerify,
  refreshRate,
  keyRotation,
  uploadLarge,
  uploadLargeBucket,
  uploadLargeResumable,
  uploadMany,
  downloadLarge,
  downloadRange,
  backupMany,
  uploadMemory,
  listAt1m,
  searchAt1m,
  inboxAt1m,
  subscriptionFanOut,
  subscriptionIdle,
  csvImport,
  exportRecords,
];

const root = fileURLToPath(new URL('../..', import.meta.url));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !benches.some((bench) => covers(bench, name)));
if (unknown.length > 0) {
  console.error(
    `no benchmark is called ${unknown.join(', ')}; there are ${benches.map((bench) => bench.name).join(', ')}`,
  );
  process.exit(2);
}

const rows: BenchRow[] = [];
for (const bench of benches) {
  if (wanted.length === 0 ? bench.isLong : !wanted.some((name) => covers(bench, name))) continue;
  const startedAt = Date.now();
  const say = (line: string) => console.error(`${bench.name}: ${line}`);
  say('begins');
  rows.push(...(await bench.run(say)));
  say(`took ${Math.round((Date.now() - startedAt) / 1_000)} s`);
}
await mkdir(join(root, '.local'), { recursive: true });
await writeFile(
  join(root, '.local', 'bench.json'),
  `${JSON.stringify(
    rows.map(({ note: _note, ...row }) => row),
    null,
    2,
  )}\n`,
);
console.table(
  Object.fromEntries(
    rows.map((row) => [
      row.name,
      {
        unit: row.unit,
        ours: rounded(row.ours),
        reference: rounded(row.reference),
        ratio: rounded(row.ratio),
        spread: rounded(row.spread),
        note: row.note,
      },
    ]),
  ),
);
process.exit();

/** A row of a benchmark is called like it, or begins with its name; but another benchmark may be called so itself. */
function covers(bench: Bench, name: string): boolean {
  if (benches.some((each) => each.name === name)) return name === bench.name;
  return name.startsWith(`${bench.name}-`);
}

function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(3));
}
