import { Type, type Static, type TObject } from 'typebox';
import type { Credential, ProviderAccount } from '#entities/integrations/connections/stored-credential.ts';
import type { Config } from '#config/objects/root.ts';

/** Kinds whose records come in from other systems. */
export const ingestedKinds = ['directoryAccount', 'directoryGroup', 'directoryMembership'] as const;
export type IngestedKind = (typeof ingestedKinds)[number];

export type { Credential };

export type { ProviderAccount };

/** The only way of adapters to the other system. */
export interface ProviderHttp {
  /**
   * Like `fetch`, without redirects: https and public addresses, limited in time and size, one attempt. Each request waits for the rate of the
   * account.
   * @throws ProviderError unavailable, rate_limited
   */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** The same way, on which each request takes as much of the rate of the account as this number of requests. */
  readonly withCost: (cost: number) => ProviderHttp;
}

/** Context of an adapter before there is a credential. */
export interface OpeningContext {
  readonly config: Config;
  readonly http: ProviderHttp;
  /** Settings of the organization, which the schema of the definition has checked. */
  readonly userInput: Readonly<Record<string, unknown>>;
  readonly now: () => Date;
  /** Where an interface of the provider is: the usual URL, unless a test of a development server names another one. */
  readonly baseUrl: (usual: string) => string;
}

export interface ProviderContext extends OpeningContext {
  readonly credential: Credential;
  /** Null until the first check has found it. */
  readonly account: ProviderAccount | null;
}

/** A sign-in whose browser comes back. */
export interface AuthRequest {
  readonly kept: Readonly<Record<string, string>>;
  readonly callbackUrl: string;
  readonly state: string;
}

/** Sign-in of a person at the provider, in whose course the credential is made. */
export interface AuthFlow {
  /** @returns where the browser goes, and what must be known when it comes back */
  begin(
    context: OpeningContext,
    request: { readonly state: string; readonly callbackUrl: string },
  ): Promise<{ readonly url: string; readonly kept: Readonly<Record<string, string>> }>;
  /**
   * Second step of a sign-in that takes two, after the browser has come back for the first time.
   * @param request `state` is that of the first step, `nextState` that of the second one
   * @returns where the browser goes now, and what must be known when it comes back; undefined when `finish` follows
   * @throws ProviderError
   */
  proceed?(
    context: OpeningContext,
    answer: URLSearchParams,
    request: AuthRequest & { readonly nextState: string },
  ): Promise<{ readonly url: string; readonly kept: Readonly<Record<string, string>> } | undefined>;
  /** @param answer parameters of the callback, whose `state` is checked already @throws ProviderError */
  finish(context: OpeningContext, answer: URLSearchParams, request: AuthRequest): Promise<Credential>;
}

/** A way to connect. */
export interface Connection {
  /** Stable name of the credential. */
  readonly credentialRef: string;
  readonly name: string;
  readonly description: string;
  readonly isRecommended?: true;
  /** Schema of the credential that a person enters; absent where the credential is made by `auth`, or none is needed. */
  readonly credential?: TObject;
  readonly auth?: AuthFlow;
  /** Health check: asks the provider for the account. @throws ProviderError */
  check(context: ProviderContext): Promise<ProviderAccount>;
  /** Renews a credential that expires. @throws ProviderError unauthorized when the provider refuses it */
  refresh?(context: ProviderContext): Promise<Credential>;
  /** When the credential stops working unless it is renewed. */
  expiresAt?(credential: Credential): Date | undefined;
  /** When a credential that is renewed stops working all the same: a person has to connect again before. */
  endsAt?(credential: Credential): Date | undefined;
  /** Ends the credential at the provider. */
  revoke?(context: ProviderContext): Promise<void>;
}

interface OperationBase {
  /** Stable name in camelCase. */
  readonly name: string;
  readonly description: string;
  readonly input: TObject;
  /** Part of the rate that each of its requests takes, as a number of requests; default: 1. */
  readonly cost?: number;
  /** How often an organization may start it by hand. */
  readonly limit?: { readonly uses: number; readonly windowMs: number };
}

/** Answers in the request that asks for it. */
export interface InlineOperation extends OperationBase {
  readonly policy: 'inline';
  run(context: ProviderContext, input: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
}

/** One record as the provider sends it. */
export interface Envelope {
  readonly kind: IngestedKind;
  /** Which of the mappings of the kind applies; default: the one without a variant. */
  readonly variant?: string;
  readonly payload: unknown;
}

/** A page of records. Adapters check that cursors do not repeat only where the provider makes them; the run refuses cursors in circles. */
export interface Page {
  readonly records: readonly Envelope[];
  /** Position of the next page; undefined after the last one. */
  readonly next?: string;
}

/** Brings records in, page by page, as a run. Each pass reads all records. */
export interface IngestOperation extends OperationBase {
  readonly policy: 'run';
  /** Repeated for each connected installation. */
  readonly isLooped: boolean;
  readonly ingests: readonly IngestedKind[];
  /** The provider lists only some of its records: those that a pass does not bring are not removed. */
  readonly isPartial?: true;
  /** @throws ProviderError */
  readPage(context: ProviderContext, input: Readonly<Record<string, unknown>>, cursor?: string): Promise<Page>;
}

export type Operation = InlineOperation | IngestOperation;

/** How records of a provider become ours. Expressions (CEL) have the variables `payload`, `variant` and `kind`. */
export interface Mapping {
  readonly kind: IngestedKind;
  readonly variant?: string;
  /** Records for which it is false are left out; absent: none. */
  readonly filterExpr?: string;
  /** Gives a map of the fields of the kind; of a membership `account` and `group`, the ids at the provider. */
  readonly mapExpr: string;
}

/** Events that the other system sends to us for each installation. */
interface DeclaredWebhook {
  readonly name: string;
  readonly description: string;
  /** URL path of the endpoint; `{endpointId}` stands for the id of the integration webhook, whose secret proves the sender. */
  readonly path: string;
}

/** Another system to which organizations connect. One folder for each (`<id>/definition.ts`). */
export interface IntegrationDefinition<UserInput extends TObject = TObject> {
  /** Stable id; that of its object in `integrations`, if it has one. */
  readonly id: string;
  readonly version: string;
  readonly name: string;
  readonly description: string;
  /** Such as `directory` or `messaging`. */
  readonly family: string;
  readonly documentationUrl?: string;
  /** Picture as SVG text. */
  readonly logo: string;
  /** Whether the settings of the operator allow it. */
  readonly isOffered: (config: Config) => boolean;
  readonly userInput: UserInput;
  readonly connections: readonly [Connection, ...Connection[]];
  /** Requests per second that an account of a customer takes; absent: only the pauses that the provider asks for. */
  readonly requestsPerSecond?: number;
  readonly operations: readonly Operation[];
  readonly mappings: readonly Mapping[];
  readonly webhooks: readonly DeclaredWebhook[];
  /**
   * Sends a notification to the person whom the account knows by this address, once. Definitions that have it are the chats of organizations.
   * @returns whether the account has such a person
   * @throws ProviderError
   */
  readonly notify?: (
    context: ProviderContext,
    message: { readonly email: string; readonly text: string },
  ) => Promise<boolean>;
  /** Where the provider sends browsers back to; undefined where it has no sign-in. */
  readonly callbackUrl?: (config: Config) => string;
  /** Further checks of what the organization sets, as pairs of a JSON pointer and a message. */
  readonly problemsOf?: (
    userInput: Static<UserInput>,
  ) => readonly { readonly path: string; readonly message: string }[];
}

/** The context in which an operation asks the provider. */
export function contextOf(context: ProviderContext, { cost }: Pick<Operation, 'cost'>): ProviderContext {
  return cost === undefined ? context : { ...context, http: context.http.withCost(cost) };
}

/** An integration whose settings also say which of its loops are off. */
export function defineIntegration<UserInput extends TObject>(
  definition: IntegrationDefinition<UserInput>,
): IntegrationDefinition {
  const whole: IntegrationDefinition = definition;
  const { userInput, operations } = whole;
  const looped = operations.filter((one) => one.policy === 'run' && one.isLooped).map(({ name }) => name);
  if (looped.length === 0) return whole;
  const disabledOperations = Type.Optional(
    Type.Array(Type.Enum(looped), {
      uniqueItems: true,
      maxItems: looped.length,
      description: 'Operations that are not repeated; a run of them can still be started.',
    }),
  );
  return {
    ...whole,
    userInput: Type.Object({ ...userInput.properties, disabledOperations }, { additionalProperties: false }),
  };
}
