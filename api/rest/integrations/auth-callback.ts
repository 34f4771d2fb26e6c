import { randomBytes } from 'node:crypto';
import { Type, type Static } from 'typebox';
import type {
  AuthRequest,
  Connection,
  OpeningContext,
  ProviderContext,
} from '#activities/clients/integrations/definition.ts';
import { connectionOf, offeredDefinition } from '#activities/clients/integrations/definitions.ts';
import type { Config } from '#config/objects/root.ts';
import type { Integration } from '#entities/integrations/connections/stored-credential.ts';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { callerIn, readMembershipState } from '#entities/kit/access/principal-state.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { connectCookieName, stateCookie } from '../../auth/cookie-attributes.ts';
import { failed } from '../../auth/sign-in-providers.ts';
import { stateLifetimeMs, type OpenedState } from '../../auth/sign-in-state.ts';
import { giveCookie } from '../../http/plugins/cookies.ts';
import { workOf } from '../../http/request-context.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import { changeableInstallation, connect } from '../../integrations/changeable-installation.ts';
import { asking as askingProvider } from '../../integrations/provider-refusals.ts';
import { pageRefusal } from '../../pages/error-page.ts';
import { pagePaths } from '../../pages/page-paths.ts';
import { redirect, RedirectSchema, sessionOf, takeStateCookie } from '../identity/providers/provider-flow.ts';

type Connecting = NonNullable<OpenedState['connecting']>;

const refusedPage = pageRefusal({
  provider_sign_in_failed:
    'The integration is not connected: the sign-in at the other system was not begun in this browser, took more than ten minutes, or was cancelled there. Begin again.',
  integration_refused: 'The integration is not connected: the other system has refused it. Begin again.',
  integration_unavailable: 'The other system does not answer. Try again {time}.',
  integration_not_connected: 'The integration cannot be connected at the moment.',
  permission_denied: 'You may not connect integrations of the organization any more.',
  not_found: 'This integration no longer exists. Begin again.',
});

/** Parameters with which other systems send a browser back; each has others besides. */
const CallbackParameters = Type.Object(
  {
    code: Type.Optional(Type.String({ maxLength: 4_096, description: 'Code that is exchanged for the credential.' })),
    state: Type.Optional(Type.String({ maxLength: 512, description: 'State of the request.' })),
    error: Type.Optional(Type.String({ maxLength: 256, description: 'Why the other system refused.' })),
  },
  { additionalProperties: true },
);

export const integrationCallback = defineRoute({
  method: 'GET',
  url: '/v1/integrations/auth/callback',
  operationId: 'completeIntegrationAuth',
  tag: 'Integrations',
  summary: 'Return from the other system of an integration',
  description:
    'The other system sends the browser here. The credential is saved once the other system has accepted it, and the browser goes to the page of the user interface that the operator has configured, or to a page of this server.',
  access: 'public',
  limitClass: 'flow',
  query: CallbackParameters,
  answers: { 302: RedirectSchema },
  // It uses up the state in a transaction of its own, and asks the other system.
  runsOnce: true,
  errorAnswer: refusedPage,
  errors: [
    'provider_sign_in_failed',
    'not_found',
    'permission_denied',
    'organization_archived',
    'integration_not_connected',
    'integration_refused',
    'integration_unavailable',
  ],
  handle: async (call) => {
    const { services } = call;
    const config = services.config.current;
    const opened = await takeStateCookie(call, 'integration', connectCookieName(config));
    const { connecting } = opened;
    const { error } = call.query as Static<typeof CallbackParameters>;
    if (!connecting || error !== undefined) throw failed('it was cancelled there or refused');
    const definition = offeredDefinition(connecting.definitionId, config);
    const connection = connectionOf(definition, connecting.credentialRef);
    const held = await changeable(call, opened, connecting, (_unit, found) => Promise.resolve(found));
    const callbackUrl = definition.callbackUrl?.(config) || `${publicApiUrl(config)}/v1/integrations/auth/callback`;
    const userInput = (held.userInput ?? {}) as Readonly<Record<string, unknown>>;
    const request = { kept: connecting.kept, callbackUrl, state: opened.state };
    const opening = services.integrations.opening(userInput);
    const secondStep = await proceed(call, opened, connecting, { connection, opening, request });
    if (secondStep !== undefined) return redirect(call, secondStep);
    const { credential, account } = await askingProvider(async () => {
      const made = await connection.auth?.finish(opening, parametersOf(call), request);
      if (!made) throw failed('the integration has no sign-in any more');
      const context: ProviderContext = services.integrations.context({ ...held, accountId: null }, made);
      return { credential: made, account: await connection.check(context) };
    });
    // The right may have been lost while the other system was asked.
    await changeable(call, opened, connecting, (unit, found, responsibleId) =>
      connect(unit, definition, found, {
        credentialRef: connecting.credentialRef,
        credential,
        account,
        responsibleId,
      }),
    );
    return redirect(call, targetOf(config, definition.id));
  },
});

interface SignInStep {
  readonly connection: Connection;
  readonly opening: OpeningContext;
  readonly request: AuthRequest;
}

/**
 * Begins the second step of a sign-in that takes two, with a state of its own.
 * @returns the URL to which the browser goes; undefined when the sign-in can be finished
 */
async function proceed(
  call: Call<unknown>,
  { begunAt: _begunAt, ...opened }: OpenedState,
  connecting: Connecting,
  { connection, opening, request }: SignInStep,
): Promise<string | undefined> {
  const nextState = randomBytes(32).toString('base64url');
  const step = await askingProvider(async () =>
    connection.auth?.proceed?.(opening, parametersOf(call), { ...request, nextState }),
  );
  if (!step) return undefined;
  const { services } = call;
  const config = services.config.current;
  const next = { ...opened, state: nextState, connecting: { ...connecting, kept: step.kept } };
  const sealed = await services.signInStates.seal(next);
  giveCookie(call.request, connectCookieName(config), sealed, stateCookie(config, stateLifetimeMs / 1_000));
  return step.url;
}

/**
 * Works on the installation, locked, as the person who began, if they may still connect it.
 * @throws AppError provider_sign_in_failed, not_found, permission_denied, organization_archived
 */
async function changeable<T>(
  { request, services }: Call<unknown>,
  opened: OpenedState,
  { definitionId, integrationId }: Connecting,
  work: (unit: UnitOfWork, held: Integration, userId: string) => Promise<T>,
): Promise<T> {
  const { organizationId } = opened;
  if (organizationId === null) throw failed('it belongs to no organization');
  const reason = 'connect integration';
  const caller = await services.database.transact(workOf(request.core, systemCaller(reason)), async (unit) => {
    const { id } = await sessionOf(unit.data, opened);
    const state = await readMembershipState(unit, id, organizationId);
    return callerIn(id, organizationId, state, await services.contextOfCallers());
  });
  return services.database.transact(workOf(request.core, caller), async (unit) => {
    const { id } = await sessionOf(unit.data.privileged(reason), opened);
    return work(unit, await changeableInstallation({ unit }, { id: definitionId }, integrationId), id);
  });
}

/** Where the browser goes: to the page of the definition in the user interface, or to a page of this server. */
function targetOf(config: Config, definitionId: string): string {
  const { consoleurl } = config.ormconfig.notifications;
  if (consoleurl === '') return publicApiUrl(config) + pagePaths.connected;
  const path = config.integrations.consoleintegrationpath.replace(/^\/*/, '/').replace(/\/+$/, '');
  return `${consoleurl.replace(/\/+$/, '')}${path}/${definitionId}`;
}

function parametersOf({ query }: Call<unknown>): URLSearchParams {
  const texts = Object.entries(query).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return new URLSearchParams(texts);
}
