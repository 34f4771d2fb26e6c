import type {
  AuthFlow,
  Credential,
  IntegrationDefinition,
  OpeningContext,
  ProviderContext,
} from '#activities/clients/integrations/definition.ts';
import { providerHttp } from '#activities/clients/integrations/provider-http.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import { ManualClock } from '#entities/kit/base/clock.ts';
import { leastEnvironment, Sandbox } from '../../config/configuration-folder.ts';
import { recordRead } from '../config-reads.ts';

type Values = Readonly<Record<string, unknown>>;

export const callbackUrl = 'https://api.example.com/v1/integrations/auth/callback';

export const state = 'state-of-the-request';

/** Contexts of adapters without a server: a configuration, a clock and the real way out, which may ask this machine. */
export class ProviderContexts {
  readonly clock = new ManualClock(new Date());
  /** Where providers are, by their usual URLs. */
  urls: Readonly<Record<string, string>> = {};
  /** Maximum duration of a request, in milliseconds. */
  timeoutMs = 10_000;
  readonly #sandbox: Sandbox;
  readonly #store: ConfigStore;

  private constructor(sandbox: Sandbox, store: ConfigStore) {
    this.#sandbox = sandbox;
    this.#store = store;
  }

  /** @param integrations leaves of `integrations` */
  static async open(integrations: Values = {}): Promise<ProviderContexts> {
    const sandbox = await Sandbox.make();
    await sandbox.write('c.yaml', JSON.stringify({ integrations }));
    const store = await ConfigStore.open({
      directory: sandbox.directory,
      environment: leastEnvironment,
      file: 'c.yaml',
      logger: {
        info() {},
        warn() {},
        error: (_fields, message) => {
          throw new Error(message);
        },
      },
      record: recordRead,
    });
    return new ProviderContexts(sandbox, store);
  }

  get config() {
    return this.#store.current;
  }

  /** Sets leaves of `integrations`; the others have their defaults. */
  async set(integrations: Values): Promise<void> {
    await this.#sandbox.write('c.yaml', JSON.stringify({ integrations }));
    await this.#store.reload();
  }

  opening(userInput: Values = {}): OpeningContext {
    const now = () => this.clock.now();
    return {
      config: this.config,
      http: providerHttp({ reach: { loopback: true }, now, timeoutMs: this.timeoutMs }),
      userInput,
      now,
      baseUrl: (usual) => this.urls[usual] ?? usual,
    };
  }

  context(credential: Credential, userInput: Values = {}): ProviderContext {
    return { ...this.opening(userInput), credential, account: null };
  }

  async close(): Promise<void> {
    this.#store.close();
    await this.#sandbox.remove();
  }
}

/** The only sign-in of a definition. */
export function signInOf({ id, connections }: IntegrationDefinition): AuthFlow {
  const auth = connections.find((connection) => connection.auth)?.auth;
  if (!auth) throw new Error(`${id} has no sign-in`);
  return auth;
}
