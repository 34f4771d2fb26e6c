import type { Logger } from 'pino';
import type { ConfigStore } from '#config/live/config-store.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import type { UploadRows } from '#entities/kit/objects/upload-rows.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { CoreRuntime } from '#runtime/core-runtime.ts';
import type { EventRepairs } from '#runtime/event-repairs.ts';
import type { LifecycleOperations } from '#runtime/lifecycle-operations.ts';
import type { WorkRepairs } from '#runtime/work-repairs.ts';
import type { EventRun, RequestRuns, RunSource } from '#runtime/event-runs.ts';
import type { AccessTokens } from '../auth/access-token.ts';
import type { ChallengeTokens } from '../auth/challenge-token.ts';
import type { ApiTokens } from '../auth/api-tokens.ts';
import type { DownloadLinks } from '../auth/download-link.ts';
import type { PortalLinks } from '../auth/portal-link.ts';
import type { SignedLinks } from '../auth/signed-links.ts';
import type { DelegationTokens } from '../auth/delegation-token.ts';
import type { RefreshTokens } from '../auth/refresh-token.ts';
import type { SessionCookies } from '../auth/session-cookie.ts';
import type { SignInProviders } from '../auth/sign-in-providers.ts';
import type { SignInStates } from '../auth/sign-in-state.ts';
import type { SignedTokens } from '../auth/signed-tokens.ts';
import type { DefaultCaller } from './default-caller.ts';
import type { Health } from './readiness.ts';
import type { Metrics } from './http-metrics.ts';
import type { InFlightRequests } from './limits/in-flight-requests.ts';
import type { OpenStreams } from './open-streams.ts';
import type { TokenUses } from './token-uses.ts';

/** Services of one API process, created once in `start-api.ts`. */
export interface Services {
  readonly config: ConfigStore;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tokens: SignedTokens;
  readonly accessTokens: AccessTokens;
  readonly apiTokens: ApiTokens;
  readonly tokenUses: TokenUses;
  readonly refreshTokens: RefreshTokens;
  readonly challengeTokens: ChallengeTokens;
  readonly delegationTokens: DelegationTokens;
  readonly downloadLinks: DownloadLinks;
  readonly signedLinks: SignedLinks;
  readonly portalLinks: PortalLinks;
  readonly sessionCookies: SessionCookies;
  /** Undefined while `auth.enabled` is on. */
  readonly defaultCaller: DefaultCaller | undefined;
  readonly signInProviders: SignInProviders;
  readonly signInStates: SignInStates;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly inFlight: InFlightRequests;
  readonly openStreams: OpenStreams;
  readonly usedCodes: CoreRuntime['usedCodes'];
  readonly rateCounters: CoreRuntime['rateCounters'];
  /** Where the bytes of files are. */
  readonly storage: CoreRuntime['storage'];
  readonly fileReceiver: CoreRuntime['fileReceiver'];
  readonly uploadRows: UploadRows;
  readonly changeFeed: CoreRuntime['changeFeed'];
  readonly wakeRelays: CoreRuntime['wakeRelays'];
  /** Runs of workflows that have to do with an event. @throws AppError workflows_unavailable */
  readonly runsOfEvent: (event: RunSource) => Promise<EventRun[]>;
  /** Runs of workflows that have to do with a request. @throws AppError workflows_unavailable */
  readonly runsOfRequest: (request: RequestRuns) => Promise<EventRun[]>;
  /** Address of a run in the Temporal UI; null when nobody has said where it is (TEMPORAL_UI_URL). */
  readonly runUrl: (run: Pick<EventRun, 'workflowId' | 'runId'>) => string | null;
  readonly eventRepairs: EventRepairs;
  readonly workRepairs: WorkRepairs;
  readonly lifecycle: LifecycleOperations;
  /** Problem of an e-mail address (`ormconfig.emailvalidation`), as the end of a sentence; see `checkEmail`. */
  readonly emailProblem: (email: string) => Promise<string | undefined>;
  readonly expressions: CoreRuntime['expressions'];
  readonly definitionMeans: CoreRuntime['definitionMeans'];
  readonly payment: CoreRuntime['payment'];
  readonly integrations: CoreRuntime['integrations'];
  /** The text records of a domain name. @throws the error of a name server that gives no answer */
  readonly textRecords: (name: string) => Promise<readonly string[]>;
  /** Settings of the authorization that apply to all callers. */
  readonly contextOfCallers: CoreRuntime['contextOfCallers'];
}
