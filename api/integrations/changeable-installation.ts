import type {
  ProviderAccount,
  Credential,
  IntegrationDefinition,
} from '#activities/clients/integrations/definition.ts';
import { connectionOf, endOfCredential } from '#activities/clients/integrations/definitions.ts';
import { notConnected } from '#activities/clients/integrations/not-connected.ts';
import { pendingLifetimeMs } from '#entities/integrations/pending-lifetime.ts';
import { markConnected } from '#entities/integrations/connections/connection-status.ts';
import { storeCredential, type Integration } from '#entities/integrations/connections/stored-credential.ts';
import { integration } from '#entities/integrations/integration.ts';
import { archivedMessage } from '#entities/kit/base/archived-message.ts';
import { organization } from '#entities/organizations/organization.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { deniedMessage } from '#entities/kit/model/denied-message.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { Asking } from '../credentials/asking.ts';
import { signedInPerson } from '../credentials/signed-in-person.ts';
import { checkedUserInput } from './checked-settings.ts';

type Values = Readonly<Record<string, unknown>>;

/** Statuses in which an installation cannot be connected. */
const unconnectable: ReadonlySet<Integration['status']> = new Set(['disabled', 'disconnecting']);

/**
 * An installation of a definition that the caller may change, locked.
 * @throws AppError not_found also for one of another definition; permission_denied; organization_archived; integration_not_connected for one that cannot be connected now
 */
export async function changeableInstallation(
  { unit }: Pick<Asking, 'unit'>,
  { id: definitionId }: Pick<IntegrationDefinition, 'id'>,
  wanted: string,
): Promise<Integration> {
  const id = existingId(integration, wanted);
  const held = await unit.data.findLocked(integration, id);
  if (!held || held.definitionId !== definitionId) throw missingRecord(integration, wanted);
  await requireRight(unit, 'edit', held);
  if (unconnectable.has(held.status)) throw notConnected(held);
  return held;
}

/** @throws AppError permission_denied; organization_archived, which the database would say only after the other system was asked */
export async function requireRight(unit: UnitOfWork, operation: 'create' | 'edit', row: object): Promise<void> {
  const { caller } = unit.context;
  const values = row as Record<string, unknown>;
  const { isAllowed } = await unit.data.decide(integration, operation, values);
  if (!isAllowed)
    throw new AppError('permission_denied', deniedMessage(integration, { operation, caller, row: values }));
  const home = await unit.data.findOne(organization, { id: { eq: String(values['organizationId']) } });
  if (home?.isArchived) throw new AppError('organization_archived', archivedMessage);
}

/**
 * The installation that a request names, if it names one, and the checked settings of the request; without any, those of the installation.
 * @throws AppError as `changeableInstallation`; permission_denied also for whoever may not make a new one; invalid_input
 */
export async function wantedSettings(
  asking: Asking,
  definition: IntegrationDefinition,
  input: { readonly integrationId?: string | undefined; readonly userInput?: unknown },
): Promise<{ readonly held: Integration | undefined; readonly userInput: Values }> {
  const { unit } = asking;
  const held =
    input.integrationId === undefined
      ? undefined
      : await changeableInstallation(asking, definition, input.integrationId);
  if (!held) await requireRight(unit, 'create', { organizationId: unit.context.caller.organizationId });
  return { held, userInput: await checkedUserInput(asking, definition, input.userInput ?? held?.userInput ?? {}) };
}

/**
 * An installation with these settings that can be connected: the one that is named, the one that waits under this name because its sign-in was
 * abandoned or refused, or a new one.
 * @throws AppError as `changeableInstallation`; already_exists, payment_method_required
 */
export async function openInstallation(
  asking: Asking,
  definition: IntegrationDefinition,
  {
    id,
    name,
    userInput,
  }: { readonly id: string | undefined; readonly name: string | undefined; readonly userInput: Values },
): Promise<Integration> {
  const { data, clock } = asking.unit;
  const wanted = id ?? (await waitingUnder(asking, definition, name ?? definition.name));
  if (wanted === undefined) return createInstallation(asking, definition, { name, userInput });
  const held = await changeableInstallation(asking, definition, wanted);
  if (name !== undefined) await data.update(integration, held.id, { name });
  return data.privileged('connect integration').update(integration, held.id, {
    userInput: { ...userInput },
    ...(held.status === 'pending' ? { expiresAt: pendingUntil(clock.now()) } : {}),
  });
}

/** Id of the installation of a definition that waits under a name. */
async function waitingUnder(
  { unit }: Asking,
  { id }: IntegrationDefinition,
  name: string,
): Promise<string | undefined> {
  const found = await unit.data.findOne(integration, {
    definitionId: { eq: id },
    name: { eq: name },
    status: { eq: 'pending' },
  });
  return found?.id;
}

function pendingUntil(now: Date): Date {
  return new Date(now.getTime() + pendingLifetimeMs);
}

async function createInstallation(
  asking: Asking,
  definition: IntegrationDefinition,
  { name = definition.name, userInput }: { readonly name: string | undefined; readonly userInput: Values },
): Promise<Integration> {
  const { unit } = asking;
  const { userId } = signedInPerson(asking);
  const { id } = await unit.data.create(integration, {
    name,
    definitionId: definition.id,
    definitionVersion: definition.version,
    family: definition.family,
  });
  return unit.data.privileged('connect integration').update(integration, id, {
    userInput: { ...userInput },
    expiresAt: pendingUntil(unit.clock.now()),
    responsibleId: userId,
  });
}

/** Keeps a credential that a check has found to work, and marks its installation as connected. @param held locked */
export async function connect(
  unit: UnitOfWork,
  definition: IntegrationDefinition,
  held: Integration,
  made: {
    readonly credentialRef: string;
    readonly credential: Credential;
    readonly account: ProviderAccount;
    readonly responsibleId: string;
  },
): Promise<Integration> {
  const { credentialRef, credential, account, responsibleId } = made;
  const connection = connectionOf(definition, credentialRef);
  const data = unit.data.privileged('connect integration');
  if (connection.auth || connection.credential)
    await storeCredential({ data }, held, credentialRef, {
      credential,
      expiresAt: endOfCredential(connection, credential),
    });
  const writing = { data, emit: unit.emit.bind(unit), clock: unit.clock };
  return markConnected(writing, held, { account, credentialRef, responsibleId, definitionVersion: definition.version });
}
