import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Session } from 'node:inspector/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { eventually } from '../kit/eventually.ts';
import { waitForMails } from '../kit/mailbox.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../kit/people.ts';
import type { TestClient } from '../kit/test-client.ts';
import { verificationToken } from '../kit/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

const root = new URL('../..', import.meta.url);

/** What no walk names: folders, or files. A new file of a step belongs into the walk, and here only if it explains nothing. */
const leftOut: readonly (readonly [path: string, reason: string])[] = [
  ['config/', 'every step reads settings'],
  ['entities/kit/base/', 'ids, clock, keys, errors, traces'],
  ['entities/kit/model/caller.ts', 'what a caller is'],
  ['entities/kit/model/define.ts', 'what a kind is'],
  ['entities/kit/model/registry.ts', 'finds kinds by name'],
  ['entities/kit/model/stored-file.ts', 'which fields of a kind hold files'],
  ['entities/kit/model/work-context.ts', 'what a unit of work is for'],
  ['entities/kit/model/scopes.ts', 'whether a personal token limits the caller'],
  ['entities/kit/model/confinement.ts', 'whether single sign-on limits the caller'],
  ['entities/kit/model/composed/text-variables.ts', 'which variables texts may have'],
  ['entities/kit/model/product-modules.ts', 'names of product modules'],
  ['entities/kit/storage/orm-schema.ts', 'finds the ORM schema of a kind'],
  ['entities/kit/storage/column.ts', 'names of columns'],
  ['entities/kit/storage/sql.ts', 'SQL as text'],
  ['entities/kit/storage/database-error.ts', 'errors of the database, if there are any'],
  ['api/rest/records/in-snake-case.ts', 'names of fields in errors'],
  ['entities/kit/model/mentions.ts', 'texts that mention people'],
  ['entities/kit/model/composed/', 'kinds with fields of these sorts'],
  ['entities/kit/read/per-row.ts', 'a part of statements'],
  ['entities/kit/read/relations.ts', 'relations of records, also of linked ones'],
  ['entities/kit/model/links.ts', 'kinds whose records are linked with others'],
  ['entities/kit/unit/change-links.ts', 'changes of links'],
  ['api/people/apply-saved-view.ts', 'lists that a saved view describes'],
  ['entities/kit/storage/second-database.ts', 'a second database, if there is one'],
  ['entities/kit/storage/outside-transaction.ts', 'single statements, such as the state of the caller'],
  ['entities/kit/storage/settle-prepared.ts', 'a second database, if there is one'],
  ['entities/kit/unit/result-cache.ts', 'keeps nothing unless db.cachettl says so'],
  ['runtime/settle-regularly.ts', 'a second database, if there is one'],
  ['entities/kit/write/file-verdicts.ts', 'kinds whose records are verdicts on files'],
  ['entities/kit/write/refused-changes.ts', 'kinds that refuse changes'],
  ['entities/kit/write/refuse-wrong-lists.ts', 'kinds whose records describe lists'],
  ['entities/kit/write/sealed-values.ts', 'kinds with secrets'],
  ['entities/kit/write/given-roles.ts', 'kinds whose records give roles'],
  ['entities/kit/write/insert-rows.ts', 'records that the server keeps in line with others'],
  ['entities/kit/write/unique-conflicts.ts', 'unique keys of several new records'],
  ['api/credentials/', 'kinds with values that need a proof of identity'],
  ['entities/work/', 'the kind of the record'],
  ['runtime/logger.ts', 'logs'],
  ['activities/kit/failing-work-notes.ts', 'schedules, and work that fails'],
  ['entities/kit/outbox/failing-work.ts', 'schedules, and work that fails'],
  ['activities/clients/temporal/work-origin.ts', 'the origin of work, for logs'],
  ['api/http/plugins/cross-origin.ts', 'pages of other origins'],
  ['api/http/plugins/routed-path.ts', 'paths as settings for other origins name them'],
  ['api/http/plugins/limit-rates.ts', 'counts requests, if a rate limit is on'],
  ['api/http/rate-limits.ts', 'whether a rate limit is on'],
  ['api/http/route-bodies.ts', 'whether a request may have a body'],
  ['api/http/idempotent-requests.ts', 'requests that are sent again'],
  ['api/http/answer-rights.ts', 'requests that are sent again'],
  ['api/graphql/operations/keyed-operation.ts', 'requests that are sent again'],
  ['api/http/plugins/resumable-protocol.ts', 'resumable uploads'],
  ['api/auth/cookie-attributes.ts', 'attributes of cookies'],
  ['worker/start-worker.ts', 'reads settings while the worker runs'],
  ['worker/queues.ts', 'reads settings while the worker runs'],
  ['activities/listeners/begin-set-up.ts', 'a listener for another event of the same request'],
  ['activities/listeners/admit-confirmed.ts', 'another listener for the event'],
  ['activities/listeners/link-subscribers.ts', 'a listener for another event of the same request'],
  ['activities/email/account-mails.ts', 'texts of other mails'],
  ['activities/events/listener-health.ts', 'listeners that fail on everything'],
  ['entities/kit/outbox/listener-states.ts', 'listeners that fail on everything'],
  ['activities/listeners/tell-new-user.ts', 'another listener for the event'],
  ['activities/clients/chat/', 'whether the operator has a chat'],
  ['relay/webhooks/', 'looks for messages to endpoints that are due'],
  ['entities/kit/outbox/webhook-queue.ts', 'messages to endpoints that are due'],
  ['entities/kit/model/event-catalogue.ts', 'kinds whose events endpoints can receive'],
  ['relay/storage/', 'looks for stored bytes that are due'],
  ['entities/kit/objects/due-work.ts', 'stored bytes that are due'],
  ['entities/kit/objects/object-copies.ts', 'copies of stored bytes, which a schedule looks at'],
  ['runtime/configured-storage.ts', 'reads settings while the worker runs'],
  ['activities/clients/storage/', 'providers of stored bytes, for files'],
  ['activities/storage/', 'runs by a schedule, and for files'],
  ['activities/maintenance/', 'runs by a schedule'],
  ['activities/notifications/', 'runs by a schedule'],
  ['activities/transfers/', 'runs by a schedule, and for exports and imports'],
  ['activities/events/resume-deliveries.ts', 'runs by a schedule'],
  ['activities/authorization/', 'runs by a schedule'],
  ['relay/storage/', 'looks for files to check or to copy'],
  ['activities/clients/storage/object-storage.ts', 'which providers have copies, for the relay of files'],
  ['runtime/configured-storage.ts', 'settings of object storage, for the relay of files'],
  ['api/start-api.ts', 'counts requests for the graceful stop'],
  ['api/http/in-flight-requests.ts', 'counts requests for the graceful stop'],
  ['api/http/plugins/acting-organization.ts', 'names the organization in which a personal token acted'],
  ['api/http/plugins/delegation-banner.ts', 'marks responses to those who act as somebody else'],
  ['entities/kit/write/lasting-rights.ts', 'refuses values of those who act as somebody else'],
  ['api/http/plugins/unread.ts', 'limits what slow clients keep'],
  ['api/http/plugins/answer-headers.ts', 'headers of every response'],
  ['api/http/entity-tags.ts', 'responses that the client has already'],
  ['api/http/kept-documents.ts', 'documents that are the same for everybody'],
  ['api/http/tls/', 'HTTPS and HTTP/2'],
  ['api/http/readiness.ts', 'whether the process stops'],
  ['api/http/request-logger.ts', 'logs'],
  ['api/http/http-metrics.ts', 'counts what happens'],
  ['runtime/metrics/', 'counts what happens'],
  ['api/http/lazy-schema-compilers.ts', 'compiles schemas at their first use'],
];

const [, afterTitle = ''] = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8').split('\n## Three walks\n');
const [walks = ''] = afterTitle.split(/^## /m);
const namedIn = (text: string) => [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, name]) => name as string);

/** The files that a walk names in its table, by their paths from the root of the repository. */
function walk(title: string): { readonly all: string[]; readonly onNewPlans: string[] } {
  const [, text = ''] = walks.split(`### ${title}`);
  const [part = ''] = text.split(/^##/m);
  const rows = part.split('\n').filter((line) => /^\| \d+/.test(line));
  return {
    all: rows.flatMap(namedIn),
    onNewPlans: rows.filter((row) => /^\| \d+ \*/.test(row)).flatMap(namedIn),
  };
}

const isNamed = (file: string, names: readonly string[]) =>
  names.some(
    (name) => file === name || file === `entities/${name}` || (!name.includes('/') && basename(file) === name),
  );

let world: World;
let owner: Person;
let client: TestClient;
const session = new Session();

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  client = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
});
afterAll(async () => {
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  await world.close();
});

/** Files of the server of which a function ran since the last call. */
async function ranFiles(): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ functions }) =>
      functions.some(({ ranges: [range] }) => range && range.count > 0 && range.startOffset > 0),
    )
    .map(({ url }) => (url.startsWith(root.href) ? url.slice(root.href.length) : ''))
    .filter((file) => file !== '' && !/^(?:test|node_modules|temporal-dev)\//.test(file));
}

/** What runs but is not named, and what is named but does not run. */
function differences(ran: readonly string[], names: readonly string[], others: readonly string[] = []) {
  const known = [...names, ...others];
  return {
    unnamed: ran.filter((file) => !isNamed(file, known) && !leftOut.some(([path]) => file.startsWith(path))).toSorted(),
    // Workflows run in a sandbox of their own.
    idle: names.filter(
      (name) => !/^workflows\/(?!.*\.contract\.ts$)/.test(name) && !ran.some((file) => isNamed(file, [name])),
    ),
  };
}

const create = walk('A create');
const list = walk('A list');
/** The relays may look for work at the same time. */
const others = namedIn(walks);

describe('the walks of ARCHITECTURE.md name the files that run', () => {
  test('a create', async () => {
    await client.post('/v1/tasks', { title: 'compiles the plan of the answer' });
    await eventually(async () => (await ranFiles()).includes('activities/clients/fga/authorization-store.ts'));
    await ranFiles();
    await client.post('/v1/tasks', { title: 'measured' });
    const ran = new Set<string>();
    await eventually(async () => {
      for (const file of await ranFiles()) ran.add(file);
      return ran.has('activities/clients/fga/authorization-store.ts');
    });
    expect(differences([...ran], create.all, others)).toEqual({ unnamed: [], idle: [] });
  });

  test('a list, with and without a plan', async () => {
    const first = await client.get('/v1/tasks?status=open&order_by=-created_at&first=1');
    const next = `/v1/tasks?status=open&order_by=-created_at&first=1&after=${first.body.page_info.end_cursor}`;
    await ranFiles();
    await client.get(next);
    const compiled = await ranFiles();
    await client.get(next);
    const cached = await ranFiles();
    expect(differences(compiled, list.all, others)).toEqual({ unnamed: [], idle: [] });
    const always = list.all.filter((name) => !list.onNewPlans.includes(name));
    expect(differences(cached, always, others)).toEqual({ unnamed: [], idle: [] });
  });

  test('an event', async () => {
    const worker = await world.startWorker();
    const email = `walk-${newId().toLowerCase()}@example.com`;
    const person = world.client();
    await person.post('/v1/register', { email, password: testPassword });
    await waitForMails(world, email);
    const token = await verificationToken(world, email);
    await ranFiles();
    const { status } = await person.post('/v1/verify', { token, password: testPassword });
    expect(status).toBe(200);
    const ran = new Set<string>();
    await eventually(async () => {
      for (const file of await ranFiles()) ran.add(file);
      // The record of the mail is changed once it is sent.
      return ran.has('entities/kit/unit/locked-row.ts') && ran.has('relay/outbox/wake-up.ts');
    });
    await worker.stop();
    const { all } = walk('An event');
    expect(differences([...ran], all, others)).toEqual({ unnamed: [], idle: [] });
  });
});
