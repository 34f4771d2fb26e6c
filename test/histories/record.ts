import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { announce } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { failingRecord, fragileListener } from '../kit/events/failing-deliveries.ts';
import { waitForMails } from '../kit/mailbox.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asSystem } from '../kit/as-person.ts';
import { integration, membership } from '#entities/index.ts';
import { loopActivities } from '#activities/integrations/loops/loop-activities.ts';
import { createRunActivities } from '#activities/integrations/runs/run-activities.ts';
import { loopSignals, reconcileIntegrationContract } from '#workflows/integrations/reconcile-integration.contract.ts';
import { forgetBackfillRuns } from '../kit/records/forgotten-backfills.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { sendSystemMessageContract } from '#workflows/identity/send-system-message.contract.ts';
import { workflowExamples } from '#entities/presets/workflow-examples.ts';
import { undeleteOrganization } from '#runtime/undelete-organization.ts';
import { admitByDomainContract } from '#workflows/organizations/admit-by-domain.contract.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { runsOf, waitForRuns } from '../kit/runs.ts';
import { setOwned, storeFile, untilCopied } from '../kit/files/stored-files.ts';
import { runSchedule, sweep } from '../kit/sweep.ts';
import { diskSettings } from '../kit/storage-settings.ts';
import { startRepair } from '../kit/processes/started-repair.ts';
import { ended, startExport, startImport } from '../kit/events/started-transfers.ts';
import { customerOf, foundOnTrial, openReceivingWorld, untilSettled } from '../kit/billing/reconciled-organization.ts';
import type { BilledWorld } from '../kit/billing/paying-organization.ts';
import type { Action } from '#entities/automation/document/definition-document.ts';
import { publishedVersion } from '../kit/automation/published-version.ts';
import { createdEndpoint } from '../kit/events/created-endpoint.ts';
import { codeHostEnvironment, FakeCodeHost } from '../kit/fakes/integrations/fake-codehostapp.ts';
import { FakeChat } from '../kit/fakes/fake-chat.ts';
import { WebhookSink } from '../kit/fakes/webhook-sink.ts';
import { ChatGround } from '../kit/integrations/chat-ground.ts';
import { accountOf, ingestGround, pagesOf } from '../kit/integrations/ingest-ground.ts';
import { startOwnWorker } from '../kit/integrations/own-worker.ts';
import { openWorld, type World } from '../kit/world.ts';
import { portableHistory } from './portable-history.ts';

/**
 * Records a history of every workflow type, and of every path through it that matters, into the folder of this version
 * (`npm run histories`). What is there already stays as it is: runs of earlier releases may still be under way, and the
 * replay of their histories shows that a change does not break them. Run it after adding a workflow or a path.
 */
const fragile = fragileListener('recorded', 'fragile.happened');
const released = fragileListener('recorded-release', 'release.happened');
const root = join(import.meta.dirname, '..', '..');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { readonly version: string };
const folder = join(import.meta.dirname, version);

let world: World;
/** One whose organizations pay. */
let billed: BilledWorld;
let files: string;
beforeAll(async () => {
  files = await mkdtemp(join(tmpdir(), 'core-histories-'));
  await mkdir(folder, { recursive: true });
  world = await openWorld({
    worker: true,
    listeners: [fragile, released],
    environment: {
      CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1',
      CORE_JOBQUEUE_QUEUECONF_MAXATTEMPTS: '2',
      CORE_JOBQUEUE_QUEUECONF_RETRYPOLICY_INITIALINTERVAL: '10',
      CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true',
      CORE_OBJECTSTORAGE_DEVMODE: 'false',
      ...diskSettings(join(files, 'files')),
      CORE_OBJECTSTORAGE_PROVIDERS_DISK_BACKUP_ENABLED: 'true',
    },
  });
  billed = await openReceivingWorld({ worker: true });
});
afterAll(async () => {
  await billed.close();
  await world.close();
  await rm(files, { recursive: true, force: true });
});

/**
 * @param workflowId without the prefix of the installation
 * @param runId the last run when left out
 */
async function record(name: string, workflowId: string, runId?: string, from = world): Promise<void> {
  const { client, codec } = from.runtime.temporal;
  const history = await client.workflow.getHandle(`${from.name}/${workflowId}`, runId).fetchHistory();
  const text = await portableHistory(history, { codec, prefix: from.name });
  await writeFile(join(folder, `${name}.json`), text, { flag: 'wx' }).then(
    () => process.stdout.write(`added ${version}/${name}.json\n`),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
}

async function recordRun(name: string, query: string, from = world): Promise<void> {
  const [run] = await waitForRuns(from, query, 1);
  await record(name, run?.id ?? '', undefined, from);
}

const completed = 'ExecutionStatus = "Completed"';

test('a mail, and the batch that asked for it', async () => {
  const email = 'recorded@example.com';
  const answer = await world.client().post('/v1/register', { email, password: 'correct horse battery' });
  await waitForMails(world, email);
  const own = `RequestId = "${String(answer.headers['x-request-id'])}" AND ${completed}`;
  await recordRun('send-email.sent', `${own} AND WorkflowType = "sendEmail"`);
  await recordRun('deliver-events.delivered', `${own} AND WorkflowType = "deliverEvents"`);
});

test('a run of an operation of an integration, and rounds of its loop', async () => {
  const own = await openWorld({ worker: ['workflows', 'maintenance'] });
  const ground = await ingestGround(own);
  const stop = await startOwnWorker(own, 'integrations', {
    ...createRunActivities(ground.dependencies),
    ...loopActivities(ground.dependencies),
  });
  ground.answer = pagesOf([accountOf(1)], [accountOf(2)]);
  const { id } = await ground.request();
  await recordRun(
    'run-integration-operation.succeeded',
    `WorkflowType = "runIntegrationOperation" AND ${completed}`,
    own,
  );
  const { temporal } = own.runtime;
  const { integrationId, owner } = ground;
  const loop = { integrationId, operation: 'syncDirectory', organizationId: owner.organization.id };
  const name = reconcileIntegrationContract.workflowId(loop);
  await temporal.wake(reconcileIntegrationContract, loop, { signal: loopSignals.runNow, search: {} });
  const handle = temporal.client.workflow.getHandle(`${own.name}/${name}`);
  const first = await eventually(async () => (await handle.describe()).runId);
  await eventually(async () => (await handle.describe()).runId !== first);
  const resting = (await handle.describe()).runId;
  await record('reconcile-integration.begun', name, first, own);
  await temporal.wake(reconcileIntegrationContract, loop, { signal: loopSignals.runNow, search: {} });
  await eventually(async () => (await handle.describe()).runId !== resting);
  await record('reconcile-integration.rested', name, resting, own);
  await temporal.wake(reconcileIntegrationContract, loop, { signal: loopSignals.stop, search: {} });
  await eventually(async () => (await handle.describe()).status.name === 'COMPLETED');
  await record('reconcile-integration.stopped', name, undefined, own);
  expect((await ground.run(id)).status).toBe('succeeded');
  await asSystem(own, owner.organization.id, (data) => data.update(integration, integrationId, { status: 'pending' }));
  await stop();
  await own.close();
});

test('deliveries of the code host that are requested again', async () => {
  const fake = await FakeCodeHost.start();
  const own = await openWorld({
    worker: true,
    integrations: { urls: fake.urls },
    environment: codeHostEnvironment(fake),
  });
  fake.deliver({ status: 'Service Unavailable', status_code: 503 });
  await runSchedule(own, 'redeliver-code-host-events');
  await recordRun(
    'redeliver-code-host-events.requested',
    `WorkflowType = "redeliverCodeHostEvents" AND ${completed}`,
    own,
  );
  await own.close();
  await fake.close();
});

test('the life of integrations: one that is swept and disconnected, and a directory that gives memberships', async () => {
  const ground = await ChatGround.open({ environment: { CORE_INTEGRATIONS_INTEGRATIONLIFECYCLE_DRYRUN: 'false' } });
  const owner = await buildPerson(ground.world);
  const pending = await ground.pending(owner, ground.world.clock.now());
  await ground.sweep();
  await ground.isGone(pending);
  for (const [type, name] of [
    ['sweepIntegrations', 'sweep-integrations.swept'],
    ['actOnIntegration', 'act-on-integration.acted'],
    ['disconnectIntegration', 'disconnect-integration.disconnected'],
  ] as const)
    await recordRun(name, `WorkflowType = "${type}" AND ${completed}`, ground.world);
  const client = await signedIn(ground.world, owner);
  const { body } = await client.post('/v1/integrations/scim/config', { name: 'Directory' });
  await client.mutate({ method: 'PATCH', url: `/v1/integrations/${body.id}`, payload: { is_primary_directory: true } });
  await recordRun(
    'provision-directory.provisioned',
    `WorkflowType = "provisionDirectory" AND ${completed}`,
    ground.world,
  );
  await ground.close();
});

test('a dry run of a workflow definition', async () => {
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'true' });
  const client = await signedIn(world, await buildPerson(world));
  const [{ recordKind, ...example }] = workflowExamples;
  const { body } = await client.post('/v1/workflow-definitions', { ...example, record_kind: recordKind });
  await client.post('/v1/tasks', { title: 'recorded' });
  await client.post(`/v1/workflow-definitions/${body.id}/dry-run`, {});
  await recordRun('dry-run-definition.completed', `WorkflowType = "dryRunDefinition" AND ${completed}`);
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: undefined });
});

test('instances of a workflow definition: one that acts, one that asks, one whose action is skipped, ones that end otherwise, and ones about changes that are held', async () => {
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'true' });
  const owner = await buildPerson(world);
  const colleague = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const client = await signedIn(world, owner);
  const targets = [{ type: 'USER', id: owner.user.id }] as const;
  const mark: Action = { key: 'mark', type: 'UPDATE_FIELD', params: { updates: { priority: 7 } } };
  const look: Action = { key: 'look', type: 'REQUEST_REVIEW', params: { targets, due_in: '5d' } };
  const publish = (title: string, actions: readonly Action[]) =>
    publishedVersion(world, colleague, {
      schemaType: 'Task',
      triggers: [{ operation: 'CREATE', expression: `object.title == "${title}"` }],
      actions,
    });
  await publish('acts', [{ key: 'tell', type: 'NOTIFY', params: { targets, title: 'recorded' } }, mark]);
  await publish('asks', [look, mark]);
  await publish('waits', [look]);
  await publish('fails', [mark]);
  const create = async (title: string) =>
    (await signedIn(world, colleague)).post('/v1/tasks', { title, assignee_id: owner.user.id });
  const instanceOf = (recordId: string, status: string) =>
    eventually(async () => {
      const [row] = await asOwner<{ id: string }>(
        world,
        'select id from workflow_instances where subject_id = $1 and status = $2',
        [recordId, status],
      );
      return row?.id;
    });
  const recordInstance = async (name: string, recordId: string, status: string) => {
    const id = `workflow/${await instanceOf(recordId, status)}`;
    await world.runtime.temporal.client.workflow.getHandle(`${world.name}/${id}`).result();
    await record(`run-workflow-instance.${name}`, id);
  };
  const acting = await create('acts');
  await recordInstance('acted', acting.body.id, 'completed');
  const asking = await create('asks');
  const asked = await instanceOf(asking.body.id, 'waiting');
  const [assignment] = await asOwner<{ id: string }>(
    world,
    'select id from workflow_assignments where instance_id = $1',
    [asked],
  );
  await client.post(`/v1/workflow-assignments/${assignment?.id}/approve`, {});
  await recordInstance('decided', asking.body.id, 'completed');
  const waiting = await create('waits');
  await instanceOf(waiting.body.id, 'waiting');
  await client.mutate({ method: 'DELETE', url: `/v1/tasks/${waiting.body.id}` });
  await recordInstance('record-deleted', waiting.body.id, 'cancelled');
  const cancelled = await create('waits');
  const open = await instanceOf(cancelled.body.id, 'waiting');
  await client.post(`/v1/workflow-instances/${open}/cancel`, { reason: 'Recorded.' });
  await recordInstance('cancelled', cancelled.body.id, 'cancelled');
  await publish('overdue', [{ ...look, params: { targets, due_in: '2s', on_due: 'REJECT' } }]);
  const overdue = await create('overdue');
  await instanceOf(overdue.body.id, 'waiting');
  world.clock.advance(2_000);
  await recordInstance('overdue', overdue.body.id, 'rejected');
  const gate: Action = { key: 'agree', type: 'REQUEST_APPROVAL', params: { targets, fields: ['status'] } };
  const holding = {
    schemaType: 'Task',
    triggers: [{ operation: 'UPDATE', fields: ['status'] }],
    actions: [gate],
  } as const;
  await publishedVersion(world, colleague, holding);
  const hold = async (title: string) => {
    const { body } = await create(title);
    const change = { method: 'PATCH', url: `/v1/tasks/${body.id}`, payload: { status: 'completed' } } as const;
    expect((await (await signedIn(world, colleague)).mutate(change)).status).toBe(202);
    return { id: body.id as string, instanceId: await instanceOf(body.id, 'waiting') };
  };
  const approved = await hold('held');
  const [needed] = await asOwner<{ id: string }>(world, 'select id from workflow_assignments where instance_id = $1', [
    approved.instanceId,
  ]);
  await client.post(`/v1/workflow-assignments/${needed?.id}/approve`, {});
  await recordInstance('applied', approved.id, 'completed');
  const forced = await hold('forced');
  const force = { reason: 'Recorded.', is_applied: true };
  await client.post(`/v1/workflow-instances/${forced.instanceId}/force-complete`, force);
  await recordInstance('forced', forced.id, 'completed');
  await asSystem(world, owner.organization.id, async (data) => {
    const held = await data.findOne(membership, { userId: { eq: colleague.user.id } });
    await data.remove(membership, held?.id ?? '');
  });
  const failing = await client.post('/v1/tasks', { title: 'fails' });
  const failed = await instanceOf(failing.body.id, 'failing');
  await world.runtime.temporal.client.workflow.getHandle(`${world.name}/workflow/${failed}`).signal('skipAction');
  await recordInstance('skipped', failing.body.id, 'completed');
  await runSchedule(world, 'sweep-instances');
  await recordRun('sweep-instances.swept', `WorkflowType = "sweepInstances" AND ${completed}`);
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: undefined });
});

test('a message to the operator', async () => {
  const chat = await FakeChat.start();
  await world.reconfigure({ CORE_INTEGRATIONS_CHATRUNTIME_WEBHOOKURL: chat.webhookUrl });
  const input = { key: newId(), about: { message: 'email-refused', carrier: 'providera' } } as const;
  await world.runtime.temporal.start(sendSystemMessageContract, input, { search: {} });
  await recordRun('send-system-message.sent', `WorkflowType = "sendSystemMessage" AND ${completed}`);
  await world.reconfigure({ CORE_INTEGRATIONS_CHATRUNTIME_WEBHOOKURL: undefined });
  await chat.close();
});

test('a listener that fails on everything is held, and let go when it works', async () => {
  const entityIds = Array.from({ length: 40 }, () => newId());
  for (const entityId of entityIds) released.broken.add(entityId);
  await announce(
    world,
    entityIds.map((entityId) => ({ topic: 'release.happened', entityId })),
  );
  await waitForRuns(world, 'WorkflowType = "probeListener"', 1);
  released.broken.clear();
  await recordRun('probe-listener.let-go', `WorkflowType = "probeListener" AND ${completed}`);
  for (const { id } of await runsOf(world, 'WorkflowType = "deliverEvent" AND ExecutionStatus = "Running"'))
    await world.runtime.temporal.client.workflow.getHandle(`${world.name}/${id}`).signal('retryDelivery');
});

test('an address is released, also where providers are', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const { body } = await client.post('/v1/email-suppressions', { email: 'released@example.com' });
  await client.post(`/v1/email-suppressions/${body.id}/release`, { reason: 'it is recorded' });
  await recordRun('release-address.released', `WorkflowType = "releaseAddress" AND ${completed}`);
});

test('an announced deletion', async () => {
  const person = await buildPerson(world);
  const client = await signedIn(world, person);
  const { id } = person.organization;
  const at = new Date(world.clock.now().getTime() + 60_000).toISOString();
  const { status } = await client.mutate({ method: 'DELETE', url: `/v1/organizations/${id}?not_before=${at}` });
  expect(status).toBe(202);
  world.clock.advance(61_000);
  await recordRun('delete-announced.deleted', `WorkflowType = "deleteAnnounced" AND ${completed}`);
});

test('a failing delivery: it waits, an operator mends it, what was held behind it follows', async () => {
  const failing = await failingRecord(world, fragile);
  await recordRun(
    'deliver-events.failing',
    `EventTopic = "fragile.happened" AND WorkflowType = "deliverEvents" AND ${completed}`,
  );
  await failing.isWaiting();
  const id = failing.handle.workflowId.slice(world.name.length + 1);
  await record('deliver-event.waiting', id);
  await failing.announceVersion(2);
  await eventually(async () => (await failing.states()).length === 2);
  failing.mend();
  await failing.handle.signal('retryDelivery');
  await failing.handle.result();
  await record('deliver-event.retried', id);
});

test('a failing delivery that is given up, and the next one of its record that fails too', async () => {
  const failing = await failingRecord(world, fragile);
  await failing.isWaiting();
  await failing.announceVersion(2);
  await eventually(async () => (await failing.states()).length === 2);
  await failing.handle.signal('skipDelivery');
  await failing.handle.result();
  await record('deliver-event.skipped', failing.handle.workflowId.slice(world.name.length + 1));
  failing.mend();
  const [next] = await waitForRuns(
    world,
    `EntityId = "${failing.entityId}" AND WorkflowType = "deliverEvent" AND ExecutionStatus = "Running"`,
    1,
  );
  const handle = world.runtime.temporal.client.workflow.getHandle(`${world.name}/${next?.id}`);
  await handle.signal('retryDelivery');
  await handle.result();
});

test('deliveries that are counted, retried until somebody stops it, and skipped', async () => {
  const failing = [];
  for (let count = 0; count < 12; count++) failing.push(await failingRecord(world, fragile));
  // What is about to be tried once more is not skipped.
  for (const { isWaiting } of failing) await isWaiting();
  const selection = { listener: fragile.name };
  await (await startRepair(world, 'counted', { selection, isDryRun: true })).result();
  await record('repair-deliveries.counted', 'counted');
  const stopped = await startRepair(world, 'stopped', { selection });
  await eventually(async () => (await stopped.query<{ repaired: number }>('progress')).repaired >= 2);
  await stopped.signal('stopRepair');
  await stopped.result();
  await record('repair-deliveries.stopped', 'stopped');
  const skipped = await startRepair(world, 'skipped', { selection, operation: 'skip', pagesPerRun: 1 });
  await skipped.result();
  await record('repair-deliveries.handed-over', 'skipped', skipped.firstExecutionRunId);
  await record('repair-deliveries.skipped', 'skipped');
  for (const { handle } of failing) await handle.result();
});

test('the schedules', async () => {
  await announce(world, [{ topic: 'fragile.happened' }]);
  await sweep(world);
  await recordRun('sweep-outbox.swept', `WorkflowType = "sweepOutbox" AND ${completed}`);
  await runSchedule(world, 'prune-records');
  await runSchedule(world, 'reconcile-authorization');
  await recordRun('reconcile-authorization.reconciled', `WorkflowType = "reconcileAuthorization" AND ${completed}`);
  const { temporal } = world.runtime;
  const handedOver = await temporal.client.workflow.start('reconcileAuthorization', {
    taskQueue: temporal.taskQueue('workflows'),
    workflowId: `${world.name}/reconcile-by-hand`,
    args: [{ queue: temporal.activityQueue('maintenance'), pagesPerRun: 2 }],
  });
  await handedOver.result();
  await record('reconcile-authorization.handed-over', 'reconcile-by-hand', handedOver.firstExecutionRunId);
  await runSchedule(world, 'reseal-secrets');
  await recordRun('reseal-secrets.resealed', `WorkflowType = "resealSecrets" AND ${completed}`);
  const resealed = await temporal.client.workflow.start('resealSecrets', {
    taskQueue: temporal.taskQueue('workflows'),
    workflowId: `${world.name}/reseal-by-hand`,
    args: [{ queue: temporal.activityQueue('maintenance'), pagesPerRun: 1 }],
  });
  await resealed.result();
  await record('reseal-secrets.handed-over', 'reseal-by-hand', resealed.firstExecutionRunId);
  await runSchedule(world, 'send-due-notifications');
  await recordRun('send-due-notifications.sent', `WorkflowType = "sendDueNotifications" AND ${completed}`);
  await runSchedule(world, 'remind-due-tasks');
  await recordRun('remind-due-tasks.reminded', `WorkflowType = "remindDueTasks" AND ${completed}`);
  await runSchedule(world, 'reindex-partitions');
  await recordRun('reindex-partitions.swept', `WorkflowType = "reindexPartitions" AND ${completed}`);
  await recordRun('prune-records.pruned', `WorkflowType = "pruneRecords" AND ${completed}`);
});

test('backfills', async () => {
  await buildPerson(world);
  await world.reconfigure({ CORE_BACKFILL_ENABLED: 'true' });
  await recordRun('run-backfill.started', `WorkflowType = "runBackfill" AND ${completed}`);
  await recordRun('run-backfill-routine.completed', `WorkflowType = "runBackfillRoutine" AND ${completed}`);
  await forgetBackfillRuns(world, 'billing-emails');
  // Others hold a record for longer than a slice.
  const held = asOwner(
    world,
    'with held as (select id from organization_settings for update) select count(*), pg_sleep(2.5) from held',
  );
  const { temporal } = world.runtime;
  const handedOver = await temporal.client.workflow.start('runBackfillRoutine', {
    taskQueue: temporal.taskQueue('workflows'),
    workflowId: `${world.name}/backfill-by-hand`,
    args: [{ routine: 'billing-emails', version: 1, queue: temporal.activityQueue('maintenance'), slicesPerRun: 1 }],
  });
  await Promise.all([held, handedOver.result()]);
  await record('run-backfill-routine.handed-over', 'backfill-by-hand', handedOver.firstExecutionRunId);
  await world.reconfigure({ CORE_BACKFILL_ENABLED: undefined });
});

test('an ended session, while the cache for them is off', async () => {
  const { temporal } = world.runtime;
  const handle = await temporal.client.workflow.start('mirrorEndedSession', {
    taskQueue: temporal.taskQueue('workflows'),
    workflowId: `${world.name}/ended-session/recorded`,
    args: [{ queue: temporal.activityQueue('maintenance'), sessionId: 'recorded', endedAt: new Date().toISOString() }],
  });
  await handle.result();
  await record('mirror-ended-session.off', 'ended-session/recorded');
});

test('a file that is copied, restored, and removed', async () => {
  const file = await storeFile(world, Buffer.from('recorded'));
  await untilCopied(world, file);
  const { objectId } = file;
  await record('backup-file.verified', `backup/${objectId}`);
  const { temporal } = world.runtime;
  const asked = { operator: 'somebody', reason: 'recorded' };
  const sourceOf = join(files, 'files', file.location.key);
  const restoration = async (name: string, input: object, id: string) => {
    const handle = await temporal.client.workflow.start(name, {
      taskQueue: temporal.taskQueue('workflows'),
      workflowId: `${world.name}/${id}`,
      args: [{ queue: temporal.activityQueue('storage'), ...input }],
    });
    await handle.result();
    return handle.firstExecutionRunId;
  };
  await rm(sourceOf);
  await restoration('restoreFile', { objectId, asked }, `restore/${objectId}`);
  await record('restore-file.restored', `restore/${objectId}`);
  await rm(sourceOf);
  await restoration('restoreFiles', { which: 'missing', asked }, 'restore-files/missing');
  await record('restore-files.restored', 'restore-files/missing');
  await rm(sourceOf);
  const firstRun = await restoration('auditStorage', { pagesPerRun: 1 }, 'audit-storage-by-hand');
  await record('audit-storage.handed-over', 'audit-storage-by-hand', firstRun);
  await record('audit-storage.audited', 'audit-storage-by-hand');
  await setOwned(world, file, false);
  await restoration('removeFiles', { objectId, asked }, `purge/${objectId}`);
  await record('remove-files.purged', `purge/${objectId}`);
  await runSchedule(world, 'remove-files');
  await recordRun(
    'remove-files.removed',
    `WorkflowType = "removeFiles" AND WorkflowId STARTS_WITH "${world.name}/remove-files" AND ${completed}`,
  );
  await runSchedule(world, 'sweep-backups');
  await recordRun('sweep-backups.swept', `WorkflowType = "sweepBackups" AND ${completed}`);
});

test('an upload that is checked', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const metadata = `filename ${Buffer.from('a.txt').toString('base64')}`;
  const begun = await client.mutate({
    method: 'POST',
    url: '/v1/uploads/resumable',
    headers: { 'tus-resumable': '1.0.0', 'upload-length': '5', 'upload-metadata': metadata },
  });
  const url = String(begun.headers['location']);
  const headers = {
    'tus-resumable': '1.0.0',
    'upload-offset': '0',
    'content-type': 'application/offset+octet-stream',
  };
  await client.mutate({ method: 'PATCH', url, headers, payload: 'hello' });
  await recordRun('check-upload.ready', `WorkflowType = "checkUpload" AND ${completed}`);
});

test('an export and an import, and what they leave', async () => {
  const owner = await buildPerson(world);
  const client = await signedIn(world, owner);
  const exported = await startExport(client, { record_kind: 'task' });
  const done = await ended(client, 'exports', exported.id);
  await recordRun(
    'export-records.completed',
    `EntityId = "${done.id}" AND WorkflowType = "exportRecords" AND ${completed}`,
  );
  const imported = await startImport(world, owner, client, 'title\nrecorded\n');
  await ended(client, 'imports', imported.id);
  await recordRun(
    'import-records.completed',
    `EntityId = "${imported.id}" AND WorkflowType = "importRecords" AND ${completed}`,
  );
  const refused = await startImport(world, owner, client, 'titel\nrecorded\n');
  await ended(client, 'imports', refused.id);
  await recordRun(
    'import-records.refused',
    `EntityId = "${refused.id}" AND WorkflowType = "importRecords" AND ${completed}`,
  );
  await runSchedule(world, 'expire-exports');
  await recordRun('expire-exports.expired', `WorkflowType = "expireExports" AND ${completed}`);
});

test('an organization that is set up, and removed', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const made = await client.post('/v1/organizations', { name: 'Recorded' });
  await recordRun('set-up-organization.suggested', `WorkflowType = "setUpOrganization" AND ${completed}`);
  await client.post('/v1/switch', { target_organization_id: made.body.id });
  await client.mutate({ method: 'DELETE', url: `/v1/organizations/${made.body.id}` });
  await recordRun('remove-organization.steps', `WorkflowType = "removeOrganization" AND ${completed}`);
  const asked = { operator: 'somebody@machine', reason: 'a mistake' };
  await undeleteOrganization(world.runtime.database, { organizationId: made.body.id }, asked);
  await recordRun('restore-organization.members', `WorkflowType = "restoreOrganization" AND ${completed}`);
});

test('an endpoint that fails once, and gets its message after a pause', async () => {
  const sink = await WebhookSink.open();
  sink.answer = () => ({ status: 500 });
  const client = await signedIn(world, await buildPerson(world));
  const { id, path } = await createdEndpoint(client, sink);
  await client.post('/v1/tasks', { title: 'recorded' });
  await eventually(async () => (await client.get(`${path}/attempts`)).body.data.length === 1);
  sink.answer = () => ({ status: 204 });
  world.clock.advance(10_000);
  await eventually(async () => (await client.get(`${path}/messages?status=delivered`)).body.data.length === 1);
  await recordRun('deliver-to-endpoint.delivered', `EntityId = "${id}" AND ${completed}`);
  await sink.close();
});

test('a person who is admitted by the domain of their address', async () => {
  const { temporal } = world.runtime;
  const { user } = await buildPerson(world);
  await temporal.start(admitByDomainContract, { userId: user.id }, { search: {} });
  await recordRun('admit-by-domain.admitted', `WorkflowType = "admitByDomain" AND ${completed}`);
});

test('an organization that pays, that is swept and compared, and whose subscription ends with it', async () => {
  const person = await foundOnTrial(billed);
  const { id } = person.organization;
  await customerOf(billed, id);
  await untilSettled(billed, id);
  await recordRun(
    'reconcile-entitlements.reconciled',
    `WorkflowType = "reconcileEntitlements" AND ${completed}`,
    billed.world,
  );
  for (const [schedule, type, name] of [
    ['sweep-entitlements', 'sweepEntitlements', 'sweep-entitlements.swept'],
    ['compare-billing', 'compareBilling', 'compare-billing.compared'],
    ['remind-payment-method', 'remindPaymentMethod', 'remind-payment-method.swept'],
    ['delete-overdue-organizations', 'deleteOverdueOrganizations', 'delete-overdue-organizations.swept'],
  ] as const) {
    await runSchedule(billed.world, schedule);
    await recordRun(name, `WorkflowType = "${type}" AND ${completed}`, billed.world);
  }
  const client = await signedIn(billed.world, person);
  await client.mutate({ method: 'DELETE', url: `/v1/organizations/${id}` });
  await recordRun(
    'remove-organization.cancelled-steps',
    `WorkflowType = "removeOrganization" AND ${completed}`,
    billed.world,
  );
});
