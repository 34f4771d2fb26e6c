// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityProvider, secondFactor, secret } from '#entities/index.ts';
import { openSecret, sealSecret } from '#entities/kit/base/secrets/sealed-secret.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { openSealedValue } from '#entities/kit/write/sealed-values.ts';
import type { ResealReport } from '#workflows/maintenance/reseal-secrets.contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, type Person } from '../../kit/people.ts';
import { runSchedule } from '../../kit/sweep.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';
import { testSecrets } from '../../setup/secrets.ts';

const newKey = randomBytes(32).toString('base64url');
const newTotp = randomBytes(32).toString('base64url');

/** More than a page has. */
const count = 450;

let world: World;
/** Encrypts with the new keys, and opens what the old ones have encrypted. */
let rotated: Instance;
/** Has forgotten the old keys. */
let renewed: Instance;
let owner: Person;
let providerId: string;
let factorId: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true' } });
  const keys = (session: string, totp: string) => ({ CORE_SESSIONS_ENCRYPTIONKEY: session, CORE_TOTP_SECRET: totp });
  rotated = await world.openInstance({
    environment: keys(`${newKey},${testSecrets.encryptionKey}`, `${newTotp},${testSecrets.totpSecret}`),
  });
  renewed = await world.openInstance({ environment: keys(newKey, newTotp) });
  owner = await buildPerson(world);
  await asSystem(async ({ data }) => {
    const inputs = Array.from({ length: count }, (_, index) => ({
      module: secret,
      input: { organizationId: owner.organization.id, name: `secret ${index}`, value: `value ${index}` },
      path: '',
    }));
    await data.createAll(inputs);
    const organizationId = owner.organization.id;
    const provider = await data.create(identityProvider, {
      organizationId,
      issuer: 'https://provider.example',
      clientId: 'core',
      clientSecret: await sealSecret('client secret', providerKeys(testSecrets.encryptionKey)),
      revision: newId(),
    });
    providerId = provider.id;
    factorId = newId();
    const sealedSecret = await sealSecret('app secret', factorKeys(testSecrets.totpSecret));
    await data.create(secondFactor, {
      id: factorId,
      userId: owner.user.id,
      digits: 6,
      sealedSecret,
      lastUsedStep: 0,
    });
  });
  const worker = await rotated.startWorker();
  stop = () => worker.stop();
});
afterAll(async () => {
  await stop();
  await world.close();
});

const providerKeys = (secrets: string) =>
  ({ secrets, purpose: 'identity-provider-secret', subject: owner.organization.id }) as const;
const factorKeys = (secrets: string) => ({ secrets, purpose: 'totp-secret', subject: factorId }) as const;

function asSystem<T>(
  work: (unit: UnitOfWork) => Promise<T>,
  { runtime }: Pick<Instance, 'runtime'> = world,
): Promise<T> {
  return runtime.database.transact({ caller: systemCaller('test', owner.organization.id), requestId: newId() }, work);
}

const reseal = () => runSchedule<ResealReport>({ name: world.name, runtime: rotated.runtime }, 'reseal-secrets');

/** What the server reads with the keys of an instance. */
async function values(instance: Pick<Instance, 'runtime'>): Promise<string[]> {
  const rows = await asOwner<{ id: string; value: string }>(world, `select id, value from secrets order by id`);
  return Promise.all(
    rows.map(async (row) => (await openSealedValue(instance.runtime.database.options, secret, row, 'value')).secret),
  );
}

const versions = () =>
  asOwner(
    world,
    `select s.id, s.record_version, s.updated_at, count(h.id)::int as entries from secrets s
    left join history h on h.entity_id = s.id group by s.id order by s.id`,
  );

test('secrets are encrypted again after a rotation, and the old keys can go', async () => {
  const expected = await values(world);
  expect(expected).toHaveLength(count);
  await expect(values(renewed)).rejects.toThrow('add the earlier secret again');
  const before = await versions();

  // An e-mail keeps what it says, encrypted, until it is sent.
  await eventually(() => isSettled(world));
  await eventually(async () => (await asOwner(world, 'select from emails where content is not null')).length === 0);
  expect(await reseal()).toEqual({
    checked: count + 2,
    resealed: count + 2,
    unreadable: 0,
    samples: [],
    isComplete: true,
  });
  expect(await values(renewed)).toEqual(expected);
  const [provider] = await asOwner<{ value: string }>(
    world,
    'select client_secret as value from identity_providers where id = $1',
    [providerId],
  );
  const [factor] = await asOwner<{ value: string }>(
    world,
    'select sealed_secret as value from second_factors where user_id = $1',
    [owner.user.id],
  );
  expect((await openSecret(provider?.value ?? '', providerKeys(newKey))).secret).toBe('client secret');
  expect((await openSecret(factor?.value ?? '', factorKeys(newTotp))).secret).toBe('app secret');
  // Nothing was changed about the records.
  expect(await versions()).toEqual(before);

  expect(await reseal()).toMatchObject({ checked: count + 2, resealed: 0, isComplete: true });
});

test('a secret that no key opens is named, and keeps the old keys', async () => {
  const [row] = await asOwner<{ id: string }>(world, 'select id from secrets order by id limit 1');
  const lost = { secrets: randomBytes(32).toString('base64url'), purpose: 'record-secret', subject: 'x' } as const;
  const [held] = await asOwner<{ value: string }>(world, 'select value from secrets where id = $1', [row?.id]);
  await asOwner(world, 'update secrets set value = $2 where id = $1', [row?.id, await sealSecret('lost', lost)]);
  expect(await reseal()).toMatchObject({
    resealed: 0,
    unreadable: 1,
    samples: [`secret.value ${row?.id}`],
    isComplete: false,
  });
  await asOwner(world, 'update secrets set value = $2 where id = $1', [row?.id, held?.value]);
});
