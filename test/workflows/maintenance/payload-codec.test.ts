import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EncryptingCodec } from '#activities/clients/temporal/payload-codec.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { announce, notingListener } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { failingRecord, fragileListener } from '../../kit/events/failing-deliveries.ts';
import { waitForMails } from '../../kit/mailbox.ts';
import { runsOf, waitForRuns } from '../../kit/runs.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type World } from '../../kit/world.ts';
import { testSecrets } from '../../setup/secrets.ts';

const canary = { email: 'canary-codec@example.com', message: 'canary words of a failure', name: 'Canaryname' };
const newKey = 'newer-encryption-key-0123456789abcdef0123456';

const refusing = notingListener('codec-refusing', ['refusing.happened'], () => {
  throw new AppError('invalid_input', canary.message);
});
const fragile = fragileListener('codec-fragile', 'fragile.happened');

describe('a payload', () => {
  const value = { address: canary.email };
  const seal = async (secret: string): Promise<Payload> => {
    const [payload] = await new EncryptingCodec(secret).encode([defaultPayloadConverter.toPayload(value)]);
    return payload as Payload;
  };
  const open = async (secret: string, payload: Payload) => {
    const [plain] = await new EncryptingCodec(secret).decode([payload]);
    return defaultPayloadConverter.fromPayload(plain as Payload);
  };
  const old = testSecrets.encryptionKey;

  test('of a key that is not configured is refused, naming the key', async () => {
    const payload = await seal(old);
    const id = Buffer.from(payload.metadata?.['encryption-key-id'] as Uint8Array).toString();
    await expect(open(newKey, payload)).rejects.toThrow(`encrypted with the key ${id}`);
  });

  test.each([
    ['one bit is changed', (data: Uint8Array) => data.with(20, (data[20] as number) ^ 1)],
    ['it is cut off', (data: Uint8Array) => data.subarray(0, -1)],
    ['only a few bytes are left', (data: Uint8Array) => data.subarray(0, 5)],
    ['it is empty', () => new Uint8Array()],
  ])('is refused as damaged when %s', async (_what, damage) => {
    const payload = await seal(old);
    await expect(open(old, { ...payload, data: damage(payload.data as Uint8Array) })).rejects.toThrow('is damaged');
  });

  test('that says it is encrypted but not with which key is refused', async () => {
    const payload = await seal(old);
    const { encoding } = payload.metadata as Record<string, Uint8Array>;
    await expect(open(old, { ...payload, metadata: { encoding: encoding as Uint8Array } })).rejects.toThrow('(none)');
  });

  test('is readable after the key was rotated, and new ones are made with the first key', async () => {
    expect(await open(`${newKey}, ${old}`, await seal(old))).toEqual(value);
    expect(await open(newKey, await seal(`${newKey},${old}`))).toEqual(value);
  });

  test('is never the same twice', async () => {
    const [one, other] = [await seal(old), await seal(old)];
    expect(Buffer.from(one.data as Uint8Array).equals(other.data as Uint8Array)).toBe(false);
  });
});

describe('what Temporal stores', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({
      listeners: [refusing, fragile],
      environment: {
        CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1',
        CORE_JOBQUEUE_QUEUECONF_MAXATTEMPTS: '1',
        CORE_JOBQUEUE_QUEUECONF_PERIODICJOBS: JSON.stringify([
          { name: 'canary', workflow: 'sweepOutbox', schedule: '0 0 1 1 *', input: { note: canary.message } },
        ]),
      },
    });
  });
  afterAll(() => world.close());

  /** Everything the server holds of a run, as bytes. */
  async function stored(workflowId: string): Promise<string> {
    const { client } = world.runtime.temporal;
    const { namespace } = world.runtime.temporal.settings;
    const execution = { workflowId: `${world.name}/${workflowId}` };
    const { history } = await client.workflowService.getWorkflowExecutionHistory({ namespace, execution });
    const described = await client.workflowService.describeWorkflowExecution({ namespace, execution });
    const { temporal } = proto;
    return [
      temporal.api.history.v1.History.encode(history ?? {}).finish(),
      temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse.encode(described).finish(),
    ]
      .map((bytes) => Buffer.from(bytes).toString('latin1'))
      .join('\n');
  }

  test('holds no input, result, header or failure that can be read, and nothing of the person', async () => {
    const worker = await world.startWorker();
    const answer = await world
      .client()
      .post('/v1/register', { email: canary.email, password: 'correct horse battery', first_name: canary.name });
    const requestId = answer.headers['x-request-id'] as string;
    await waitForMails(world, canary.email);
    const refused = await announce(world, [{ topic: 'refusing.happened', payload: { note: canary.message } }]);
    const [delivery] = await waitForRuns(world, `RequestId = "${refused}" AND WorkflowType = "deliverEvent"`, 1);
    // Its last attempt has failed and the failure is in its history.
    const handle = world.runtime.temporal.client.workflow.getHandle(`${world.name}/${delivery?.id}`);
    await eventually(async () =>
      (await handle.fetchHistory()).events?.some((event) => event.activityTaskFailedEventAttributes),
    );
    const runs = await runsOf(world, `RequestId IN ("${requestId}", "${refused}")`);
    expect(runs.map((run) => run.type).toSorted()).toEqual([
      'deliverEvent',
      'deliverEvents',
      'deliverEvents',
      'sendEmail',
    ]);
    for (const run of runs) {
      const text = await stored(run.id);
      // Ids of requests, records, organizations and events are to be found by; of the person there is nothing.
      const secrets = [canary.email, canary.message, canary.name, 'verify-address', 'maximumAttempts'];
      for (const secret of secrets) expect(text.includes(secret), `${run.type} holds ${secret}`).toBe(false);
      expect(text).toContain('binary/encrypted');
    }
    const { failure } =
      (await handle.fetchHistory()).events?.findLast((event) => event.activityTaskFailedEventAttributes)
        ?.activityTaskFailedEventAttributes ?? {};
    expect(failure).toMatchObject({ message: 'Encoded failure', stackTrace: '' });
    expect(failure?.applicationFailureInfo?.type).toBe('invalid_input');
    await handle.signal('skipDelivery');
    await handle.result();
    await worker.stop();
  });

  test('holds the input of schedules encrypted too', async () => {
    const worker = await world.startWorker();
    const { client } = world.runtime.temporal;
    const { namespace } = world.runtime.temporal.settings;
    const described = await client.workflowService.describeSchedule({ namespace, scheduleId: `${world.name}/canary` });
    const bytes = proto.temporal.api.workflowservice.v1.DescribeScheduleResponse.encode(described).finish();
    const text = Buffer.from(bytes).toString('latin1');
    expect(text).toContain('binary/encrypted');
    expect(text).not.toContain(canary.message);
    await worker.stop();
    await client.schedule.getHandle(`${world.name}/canary`).delete();
  });

  test('goes on after the key was rotated: old runs are read and end, new payloads have the new key', async () => {
    shows('sessions.encryptionkey');
    const before = await world.startWorker();
    const record = await failingRecord(world, fragile);
    await record.isWaiting();
    await before.stop();
    const rotated = await world.openInstance({
      environment: { CORE_SESSIONS_ENCRYPTIONKEY: `${newKey},${testSecrets.encryptionKey}` },
    });
    const after = await rotated.startWorker();
    record.mend();
    await rotated.runtime.temporal.client.workflow.getHandle(record.handle.workflowId).signal('retryDelivery');
    expect(await rotated.runtime.temporal.client.workflow.getHandle(record.handle.workflowId).result()).toBe('done');
    const { events } = await record.handle.fetchHistory();
    const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
    const result = events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0];
    const keyOf = (payload: typeof input) =>
      Buffer.from((payload?.metadata?.['encryption-key-id'] ?? '') as Uint8Array).toString();
    const idOf = async (secret: string) => keyOf((await new EncryptingCodec(secret).encode([{}]))[0]);
    expect(keyOf(input)).toBe(await idOf(testSecrets.encryptionKey));
    expect(keyOf(result)).toBe(await idOf(newKey));
    // Somebody who has only the old key is told which one is missing.
    await expect(record.handle.result()).rejects.toThrow(await idOf(newKey));
    expect(await announce(world, [{ topic: 'fragile.happened', entityId: newId() }])).toBeTypeOf('string');
    await eventually(async () => (await runsOf(world, `ExecutionStatus = "Running"`)).length === 0);
    await after.stop();
  });
});
