import type { Config } from '#config/objects/root.ts';
import { customerReach } from '#activities/clients/outbound/customer-reach.ts';
import { notEncrypted, notPublic, outboundUrlProblem } from '#activities/clients/outbound/check-outbound-url.ts';
import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { decidingMembership } from '#entities/kit/access/single-sign-on.ts';
import { AppError, type FieldProblem } from '#entities/kit/base/errors.ts';
import { inputError, limitExceeded } from '#entities/kit/base/input-error.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { deniedMessage } from '#entities/kit/model/denied-message.ts';
import { patternProblem } from '#entities/kit/model/event-catalogue.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { refuseScopesBeyond, unknownScopes } from '#entities/kit/model/scopes.ts';
import { lockEndpointsOf, unblockEndpoint } from '#entities/webhooks/webhook-message-rows.ts';
import { keepMessages } from '#entities/webhooks/webhook-queue-rows.ts';
import { withholdMessages } from '#entities/webhooks/withheld-message-rows.ts';
import type { ExpectedVersion } from '#entities/kit/write/plan-changes.ts';
import { openSealedValue } from '#entities/kit/write/sealed-values.ts';
import { isManager } from '#entities/presets/roles.ts';
import type { Asking } from '../credentials/asking.ts';
import { requireOrganizationProof } from '../credentials/recent-proof.ts';
import { newWebhookSecret } from '../credentials/webhook-secrets.ts';

type Endpoint = RowOf<typeof webhookEndpoint>;

/** Fields that people set. */
interface EndpointSettings {
  readonly name: string;
  readonly description?: string | null;
  readonly url: string;
  readonly topics: string[];
  readonly scopes: string[];
  readonly ordering?: Endpoint['ordering'];
  readonly maxInFlight?: number;
  readonly maxPerSecond?: number;
  readonly includesRecord?: boolean;
}

interface EndpointChanges extends Partial<EndpointSettings> {
  readonly status?: Endpoint['status'];
}

/** The id of an endpoint, and its secret, which is shown once. */
interface IssuedEndpoint {
  readonly id: string;
  readonly secret: string;
}

/** Maximum number of endpoints of an organization. */
const maxEndpoints = 50;

/** @throws AppError invalid_input, permission_denied, already_exists, step_up_required, limit_exceeded */
export async function createEndpoint(asking: Asking, input: EndpointSettings): Promise<IssuedEndpoint> {
  const { unit } = asking;
  const settings = await checked(asking, 'create', input);
  const { organizationId } = unit.context.caller;
  if (organizationId !== null) await lockEndpointsOf(unit, organizationId);
  const secret = newWebhookSecret();
  const { id } = await unit.data.create(webhookEndpoint, { ...settings, secret, ...(await responsibleOf(asking)) });
  // After the creation, which says why somebody may not create endpoints at all.
  await requireOrganizationProof(asking);
  refuseScopesBeyond(unit.registry, 'endpoint', settings.scopes, unit.context.caller);
  refuseTopicsBeyond(settings);
  if ((await unit.data.find(webhookEndpoint, { limit: maxEndpoints + 1 })).length > maxEndpoints)
    throw limitExceeded(`There are ${maxEndpoints} endpoints already; delete unused ones.`, {
      path: '/',
      message: `more than ${maxEndpoints} endpoints`,
    });
  return { id, secret };
}

/**
 * Changes an endpoint. A person who changes the URL or the topics of messages has recently proven their identity. The person who does this,
 * or enables the endpoint, has the rights that its scopes give, and is responsible for it from then on.
 * @throws AppError not_found, invalid_input, permission_denied, already_exists, step_up_required, stale_record
 */
export async function changeEndpoint(
  asking: Asking,
  wanted: string,
  changes: EndpointChanges,
  recordVersion?: ExpectedVersion,
): Promise<Endpoint> {
  const { unit, services } = asking;
  const settings = await checked(asking, 'edit', changes);
  const { url, scopes, topics, includesRecord } = changes;
  const sendsMore = [url, scopes, topics].some((value) => value !== undefined) || includesRecord === true;
  const held = await lockedEndpoint(asking, wanted);
  // The person who enables it is responsible for its scopes, with all rights of a person.
  const answersForMore = changes.status === 'enabled' && unit.context.caller.limits !== null;
  if (sendsMore || answersForMore) await requireOrganizationProof(asking);
  const isEnabled = changes.status === 'enabled' && held.status === 'disabled';
  if (sendsMore || isEnabled)
    refuseScopesBeyond(unit.registry, 'endpoint', settings.scopes ?? held.scopes, unit.context.caller);
  if (settings.topics ?? settings.scopes)
    refuseTopicsBeyond({ topics: settings.topics ?? held.topics, scopes: settings.scopes ?? held.scopes });
  const { status } = settings;
  const stateOf = {
    enabled: { disabledReason: null, disabledAt: null },
    disabled: { disabledReason: 'by_hand', disabledAt: services.clock.now() },
  } as const;
  const isSwitched = status !== undefined && status !== held.status;
  const isMoved = url !== undefined && url !== held.url;
  const values = {
    ...settings,
    ...(isSwitched ? stateOf[status] : {}),
    ...(isMoved ? { urlChangedAt: services.clock.now() } : {}),
    ...(sendsMore || isEnabled ? await responsibleOf(asking) : {}),
  };
  const changed = await unit.data.update(webhookEndpoint, held.id, values, recordVersion);
  if (isSwitched && status === 'disabled') await keepMessages(unit, held.id);
  if (isMoved || scopes || topics) await withholdMessages(unit, held.id);
  if (changed.status === 'enabled' && (isSwitched || isMoved)) {
    await unblockEndpoint(unit, held.id);
    unit.afterCommit(services.wakeRelays);
  }
  return changed;
}

/**
 * Replaces the secret. For 24 hours, messages are signed with the former one as well.
 * @throws AppError not_found, permission_denied, step_up_required
 */
export async function rotateEndpoint(asking: Asking, wanted: string): Promise<IssuedEndpoint> {
  const { unit, services } = asking;
  const held = await lockedEndpoint(asking, wanted);
  await requireOrganizationProof(asking);
  refuseScopesBeyond(unit.registry, 'endpoint', held.scopes, unit.context.caller);
  const secret = newWebhookSecret();
  const { secret: formerSecret } = await openSealedValue(
    services.database.options,
    webhookEndpoint,
    { ...held },
    'secret',
  );
  await unit.data.update(webhookEndpoint, held.id, { secret, formerSecret, rotatedAt: services.clock.now() });
  return { id: held.id, secret };
}

/** Person who is responsible for the changes of the caller; null for a program, whose token has rights of its own. */
async function responsibleOf({ unit }: Asking): Promise<Pick<Endpoint, 'responsibleId' | 'responsibleMembershipId'>> {
  const { kind, subjectId, organizationId } = unit.context.caller;
  if (kind !== 'user' || subjectId === null || organizationId === null)
    return { responsibleId: null, responsibleMembershipId: null };
  return {
    responsibleId: subjectId,
    responsibleMembershipId: await decidingMembership(unit, subjectId, organizationId),
  };
}

/** An endpoint that the caller may change, locked. @throws AppError not_found, permission_denied */
async function lockedEndpoint({ unit }: Asking, wanted: string): Promise<Endpoint> {
  const held = await unit.data.findLocked(webhookEndpoint, existingId(webhookEndpoint, wanted));
  if (!held) throw missingRecord(webhookEndpoint, wanted);
  if (!(await unit.data.decide(webhookEndpoint, 'edit', { ...held })).isAllowed)
    throw new AppError(
      'permission_denied',
      deniedMessage(webhookEndpoint, { operation: 'edit', caller: unit.context.caller, row: { ...held } }),
    );
  return held;
}

/** The same, for messages that are sent now. @throws AppError not_found, permission_denied, invalid_input */
export async function lockedEnabledEndpoint(asking: Asking, wanted: string): Promise<Endpoint> {
  const held = await lockedEndpoint(asking, wanted);
  if (held.status === 'disabled')
    throw inputError([{ path: '/status', message: 'is disabled; enable the endpoint first' }]);
  return held;
}

/**
 * Checks what needs no transaction; names are resolved here.
 * @throws AppError invalid_input; permission_denied for callers who manage no endpoints and could only look up names
 */
async function checked<Input extends EndpointChanges>(
  { unit, services }: Asking,
  operation: 'create' | 'edit',
  input: Input,
): Promise<Input> {
  const { caller } = unit.context;
  if (caller.kind === 'user' && !isManager(caller.role))
    throw new AppError('permission_denied', deniedMessage(webhookEndpoint, { operation, caller }));
  const { topics, scopes, url } = input;
  const problems: FieldProblem[] = [];
  for (const [name, list] of Object.entries({ topics, scopes }))
    if (list?.length === 0) problems.push({ path: `/${name}`, message: 'must have at least one item' });
  for (const [index, pattern] of (topics ?? []).entries()) {
    const message = patternProblem(unit.registry, pattern);
    if (message !== undefined) problems.push({ path: `/topics/${index}`, message });
  }
  const urlProblem = url === undefined ? undefined : await endpointUrlProblem(url, services.config.current);
  if (urlProblem !== undefined) problems.push({ path: '/url', message: urlProblem });
  problems.push(...unknownScopes(unit.registry, 'endpoint', scopes ?? []));
  if (problems.length > 0) throw inputError(problems);
  return { ...input, ...(topics ? { topics: unique(topics) } : {}), ...(scopes ? { scopes: unique(scopes) } : {}) };
}

/** Problem of the URL of an endpoint. Developers learn the setting with which their own machine can be one. */
async function endpointUrlProblem(url: string, config: Config): Promise<string | undefined> {
  const problem = await outboundUrlProblem(url, customerReach(config));
  const isClosed = config.server.dev && !config.workflows.webhookallowprivateaddresses;
  if (!isClosed || (problem !== notPublic && problem !== notEncrypted)) return problem;
  return `${problem}; for development, workflows.webhookallowprivateaddresses allows private addresses, also over http`;
}

/** An endpoint would never receive these. @throws AppError invalid_input */
function refuseTopicsBeyond({ topics, scopes }: Pick<EndpointSettings, 'topics' | 'scopes'>): void {
  const kinds = new Set(scopes.map((scope) => scope.slice(0, scope.indexOf(':'))));
  const problems = topics.flatMap((pattern, index): FieldProblem[] => {
    const kind = pattern.slice(0, pattern.indexOf('.'));
    return pattern === '*' || kinds.has(kind)
      ? []
      : [{ path: `/topics/${index}`, message: `needs the scope ${kind}:read` }];
  });
  if (problems.length > 0) throw inputError(problems);
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}
