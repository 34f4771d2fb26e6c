import {
  ClientWriteRequestOnDuplicateWrites,
  ClientWriteRequestOnMissingDeletes,
  ConsistencyPreference,
  CredentialsMethod,
  OpenFgaClient,
} from '@openfga/sdk';
import type { ModelType } from '#entities/kit/authorization-model.ts';
import type { Question } from '#entities/kit/authorizer.ts';
import { AppError } from '#entities/kit/errors.ts';
import type { Tuple } from '#entities/kit/tuples.ts';
import { fingerprint, writtenModel } from './written-model.ts';

export interface AuthorizationStoreSettings {
  readonly hostUrl: string;
  readonly storeName: string;
  /** Empty: found, or created, by name. */
  readonly storeId: string;
  /** Empty: the newest model that equals ours, written when there is none. */
  readonly modelId: string;
  readonly createNewModel: boolean;
  readonly apiToken: string;
  readonly types: readonly ModelType[];
}

/** The OpenFGA store of this installation. Connects, and finds or creates store and model, with the first call. */
export class AuthorizationStore {
  readonly #settings: AuthorizationStoreSettings;
  #ready: Promise<OpenFgaClient> | undefined;

  constructor(settings: AuthorizationStoreSettings) {
    this.#settings = settings;
  }

  /** Asks whether the store answers now. @throws AppError authorization_unavailable */
  async ping(): Promise<void> {
    await this.#call((client) => client.readAuthorizationModels({ pageSize: 1 }));
  }

  /**
   * Writes and deletes tuples in one transaction of the store. What is there already, or gone already, is fine.
   * @throws AppError authorization_unavailable
   */
  async write(present: readonly Tuple[], absent: readonly Tuple[]): Promise<void> {
    await this.#call((client) =>
      client.write(
        { writes: present.map(keyOf), deletes: absent.map(keyOf) },
        {
          conflict: {
            onDuplicateWrites: ClientWriteRequestOnDuplicateWrites.Ignore,
            onMissingDeletes: ClientWriteRequestOnMissingDeletes.Ignore,
          },
        },
      ),
    );
  }

  /** All tuples of the store, page by page; for reconciliation. @throws AppError authorization_unavailable */
  async *tuples(): AsyncGenerator<Tuple> {
    let continuationToken: string | undefined;
    do {
      const page = await this.#call((client) =>
        client.read({}, { pageSize: 100, ...(continuationToken ? { continuationToken } : {}) }),
      );
      for (const { key } of page.tuples) yield { object: key.object, relation: key.relation, subject: key.user };
      continuationToken = page.continuation_token || undefined;
    } while (continuationToken);
  }

  /**
   * Asks past the caches of the store, so that the answer knows of every write that has ended.
   * @throws AppError authorization_unavailable
   */
  async check({ context, ...tuple }: Tuple & Partial<Question>): Promise<boolean> {
    const contextualTuples = (context ?? []).map(keyOf);
    const answer = await this.#call((client) =>
      client.check({ ...keyOf(tuple), contextualTuples }, { consistency: ConsistencyPreference.HigherConsistency }),
    );
    return answer.allowed ?? false;
  }

  async #call<T>(work: (client: OpenFgaClient) => Promise<T>): Promise<T> {
    const client = await this.#client();
    try {
      return await work(client);
    } catch (cause) {
      throw unavailable(cause);
    }
  }

  #client(): Promise<OpenFgaClient> {
    this.#ready ??= this.#connect().catch((cause: unknown) => {
      // The next call tries again.
      this.#ready = undefined;
      throw unavailable(cause);
    });
    return this.#ready;
  }

  async #connect(): Promise<OpenFgaClient> {
    const { hostUrl, apiToken, storeId, modelId } = this.#settings;
    const client = new OpenFgaClient({
      apiUrl: hostUrl,
      // Requests wait for it, and whoever writes tuples tries again by itself: better soon refused than long retried.
      baseOptions: { timeout: 3_000 },
      retryParams: { maxRetry: 1, minWaitInMs: 50 },
      ...(apiToken ? { credentials: { method: CredentialsMethod.ApiToken, config: { token: apiToken } } } : {}),
    });
    client.storeId = storeId || (await this.#storeByName(client));
    client.authorizationModelId = modelId || (await this.#model(client));
    return client;
  }

  /** Store names are not unique. Of several, made by processes that started together, all take the oldest. */
  async #storeByName(client: OpenFgaClient): Promise<string> {
    const held = await this.#oldestStore(client);
    if (held) return held;
    const created = await client.createStore({ name: this.#settings.storeName });
    return (await this.#oldestStore(client)) ?? created.id;
  }

  async #oldestStore(client: OpenFgaClient): Promise<string | undefined> {
    const { storeName } = this.#settings;
    const found: { id: string; created_at: string }[] = [];
    let continuationToken: string | undefined;
    do {
      const page = await client.listStores({
        pageSize: 100,
        name: storeName,
        ...(continuationToken ? { continuationToken } : {}),
      });
      found.push(...page.stores.filter((store) => store.name === storeName));
      continuationToken = page.continuation_token || undefined;
    } while (continuationToken);
    return found.toSorted((a, b) => a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id))[0]?.id;
  }

  async #model(client: OpenFgaClient): Promise<string> {
    const wanted = writtenModel(this.#settings.types);
    if (!this.#settings.createNewModel) {
      const { authorization_models: held } = await client.readAuthorizationModels({ pageSize: 10 });
      const same = held.find((model) => fingerprint(model) === fingerprint(wanted));
      if (same) return same.id;
    }
    const written = await client.writeAuthorizationModel(wanted);
    return written.authorization_model_id;
  }
}

function keyOf(tuple: Tuple): { user: string; relation: string; object: string } {
  return { user: tuple.subject, relation: tuple.relation, object: tuple.object };
}

function unavailable(cause: unknown): AppError {
  return new AppError(
    'authorization_unavailable',
    'The authorization store cannot be reached; try again in a moment.',
    {
      cause,
      details: { retryAfterSeconds: 1 },
    },
  );
}
