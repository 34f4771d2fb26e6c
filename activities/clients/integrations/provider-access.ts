import { setTimeout as pause } from 'node:timers/promises';
import type { ConfigStore } from '#config/live/config-store.ts';
import { integration } from '#entities/integrations/integration.ts';
import { isAccountShared } from '#entities/integrations/connected-integration-rows.ts';
import { noteSecretUse } from '#entities/integrations/secret-use-rows.ts';
import { endRefreshLease, takeRefreshLease } from '#entities/integrations/refresh-lease-rows.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { Connection, Credential, IntegrationDefinition, OpeningContext, ProviderContext } from './definition.ts';
import { connectionOf, definitionOf, endOfCredential } from './definitions.ts';
import { isNotConnected, notConnected } from './not-connected.ts';
import { ProviderError } from './provider-error.ts';
import { pauseRequests, takeSlot } from './account-rate.ts';
import { providerHttp, type RequestRate } from './provider-http.ts';
import { integrationReach } from '../outbound/customer-reach.ts';
import { workContext } from '../temporal/work-origin.ts';
import { markErrored } from '#entities/integrations/connections/connection-status.ts';
import {
  isSameCredential,
  readCredential,
  storeCredential,
  type Integration,
  type StoredCredential,
} from '#entities/integrations/connections/stored-credential.ts';

/** Time for which one process may renew a credential, in milliseconds: longer than two requests, each after its wait for the rate of the account. */
const leaseMs = 60_000;
/** Longest wait for the process that renews it, in milliseconds. */
const maxWaitMs = 30_000;
/** Pause between two looks whether another process has renewed it, in milliseconds. */
const pollMs = 100;
/** A credential that ends within this time is renewed before it is used, in milliseconds. */
const renewedBeforeMs = 60_000;

/** Statuses in which there is a credential that is renewed. */
const working: readonly Integration['status'][] = ['connected', 'errored'];

/** For tests: where providers are, by their usual URL; used only while `server.dev` is on. */
export interface ProviderSettings {
  readonly urls?: Readonly<Record<string, string>>;
  /** Maximum duration of a request, in milliseconds. */
  readonly timeoutMs?: number;
}

/** Statuses of integrations that have a credential. */
const withCredential: readonly Integration['status'][] = ['connected', 'errored', 'disabled', 'disconnecting'];

interface AccessOptions {
  readonly config: Pick<ConfigStore, 'current'>;
  readonly database: Database;
  readonly settings?: ProviderSettings;
}

/** An installation and what is needed to use it. */
interface Opened {
  readonly row: Integration;
  readonly definition: IntegrationDefinition;
  readonly connection: Connection;
  readonly stored: StoredCredential;
}

/**
 * The way to the other systems of integrations. Credentials are read when they are used and renewed before they end, by one process at a
 * time; no transaction is open while a provider is asked.
 */
export class ProviderAccess {
  readonly #options: AccessOptions;

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /** Context of an adapter before there is a credential, and before it is known whose rate applies. */
  opening(userInput: Readonly<Record<string, unknown>>): OpeningContext {
    return this.#opening(userInput, {});
  }

  /** The context of a credential that may not be stored. Its requests wait for the rate of the account, if that is known. */
  context(
    {
      definitionId,
      userInput,
      accountId,
      accountName,
    }: Pick<Integration, 'definitionId' | 'userInput' | 'accountId' | 'accountName'>,
    credential: Credential,
  ): ProviderContext {
    const settings = (userInput ?? {}) as Readonly<Record<string, unknown>>;
    return {
      ...this.#opening(settings, accountId === null ? {} : this.#rateOf(definitionId, accountId)),
      credential,
      account: accountId === null ? null : { id: accountId, name: accountName },
    };
  }

  #opening(userInput: Readonly<Record<string, unknown>>, rate: RequestRate): OpeningContext {
    const { config, database, settings = {} } = this.#options;
    const { current } = config;
    const { dev } = current.server;
    const now = () => database.options.clock.now();
    return {
      config: current,
      http: providerHttp({
        reach: integrationReach(current),
        now,
        ...(dev && settings.timeoutMs !== undefined ? { timeoutMs: settings.timeoutMs } : {}),
        ...rate,
      }),
      userInput,
      now,
      baseUrl: (usual) => (dev ? settings.urls?.[usual] : undefined) ?? usual,
    };
  }

  /** The rate of an account, which all processes share, whichever integration asks. */
  #rateOf(definitionId: string | null, accountId: string): RequestRate {
    const account = `${definitionId}/${accountId}`;
    const perSecond = definitionOf(definitionId)?.requestsPerSecond;
    return {
      beforeRequest: (cost, signal) => takeSlot(this.#options, account, { cost, perSecond, signal }),
      onPause: (pauseMs) => pauseRequests(this.#options, account, pauseMs),
    };
  }

  /**
   * Does something with a connected integration. A credential that the provider refuses is renewed once; when its newest one is refused, the
   * integration is marked as errored.
   * @param work must not run in a transaction
   * @throws AppError integration_not_connected; ProviderError
   */
  async use<T>(
    integrationId: string,
    work: (context: ProviderContext, row: Integration, definition: IntegrationDefinition) => Promise<T>,
  ): Promise<T> {
    const opened = await this.#fresh(await this.#open(integrationId), working);
    const attempt = ({ row, definition, stored }: Opened) =>
      work(this.context(row, stored.credential), row, definition);
    try {
      return await attempt(opened);
    } catch (error) {
      if (!isRefused(error)) throw error;
      const next = await this.#replaced(opened, error);
      try {
        return await attempt(next);
      } catch (again) {
        if (isRefused(again)) await this.#afterRefusal(next, again);
        throw again;
      }
    }
  }

  /** Looks whether an integration works, connected or not. @throws AppError integration_not_connected; ProviderError */
  async probe(integrationId: string): Promise<{ readonly id: string; readonly name: string | null }> {
    const opened = await this.#fresh(await this.#open(integrationId, working), working);
    const { row, connection, stored } = opened;
    return connection.check(this.context(row, stored.credential));
  }

  /**
   * Ends the credential of an integration at the other system. Nothing happens without a credential, where the operator does not offer the
   * definition any more, or while another integration uses the account: the end there is that of the app for the whole account.
   * @throws ProviderError
   */
  async revoke(integrationId: string): Promise<void> {
    const opened = await this.#openIfAny(integrationId);
    if (!opened?.connection.revoke || opened.stored.secretId === null) return;
    if (await this.#transact(integrationId, (unit) => isAccountShared(unit, opened.row))) return;
    const { row, connection, stored } = await this.#fresh(opened, withCredential);
    await connection.revoke?.(this.context(row, stored.credential));
  }

  async #openIfAny(integrationId: string): Promise<Opened | undefined> {
    try {
      return await this.#open(integrationId, withCredential);
    } catch (error) {
      if (isNotConnected(error)) return undefined;
      throw error;
    }
  }

  async #open(integrationId: string, statuses: readonly Integration['status'][] = ['connected']): Promise<Opened> {
    return this.#transact(integrationId, async (unit) => {
      const row = await unit.data.findOne(integration, { id: { eq: integrationId } });
      const definition = definitionOf(row?.definitionId ?? null);
      if (!row || !statuses.includes(row.status) || !definition?.isOffered(this.#options.config.current))
        throw notConnected(row);
      const stored = await readCredential(unit, this.#options.database.options, row);
      if (stored.secretId !== null) await noteSecretUse(unit, stored.secretId);
      return { row, definition, connection: connectionOf(definition, row.credentialRef), stored };
    });
  }

  /** With a credential that does not end within a minute. @param statuses those in which it may be used */
  async #fresh(opened: Opened, statuses: readonly Integration['status'][]): Promise<Opened> {
    const { connection, stored } = opened;
    const endsAt = connection.refresh && connection.expiresAt?.(stored.credential);
    if (!endsAt || endsAt.getTime() > this.#now() + renewedBeforeMs) return opened;
    try {
      return await this.#renewed(opened, statuses);
    } catch (error) {
      if (isRefused(error)) return this.#afterRefusal(opened, error);
      // One that is still valid is used: a provider that does not answer breaks no connection.
      if (error instanceof ProviderError && error.isPassing && endsAt.getTime() > this.#now()) return opened;
      throw error;
    }
  }

  /** The credential after one that was refused: another process has replaced it, or it is renewed. @throws the refusal when there is none */
  async #replaced(opened: Opened, refusal: ProviderError): Promise<Opened> {
    const current = await this.#open(opened.row.id, working);
    if (!isSameCredential(current.stored, opened.stored)) return current;
    if (!opened.connection.refresh) return this.#afterRefusal(opened, refusal);
    try {
      return await this.#renewed(opened, working);
    } catch (error) {
      if (isRefused(error)) return this.#afterRefusal(opened, error);
      throw error;
    }
  }

  /** Renews a credential, or waits until the process that does it has stored the new one. */
  async #renewed(opened: Opened, statuses: readonly Integration['status'][]): Promise<Opened> {
    const { row, stored } = opened;
    const givenUpAt = Date.now() + maxWaitMs;
    for (;;) {
      const lease = await this.#transact(row.id, (unit) => takeRefreshLease(unit, row.id, leaseMs));
      try {
        // Read after the lease was taken: the process that had it before may have stored another one.
        const current = await this.#open(row.id, statuses);
        if (!isSameCredential(current.stored, stored)) return current;
        if (lease) {
          await this.#renew(current);
          return await this.#open(row.id, statuses);
        }
      } finally {
        if (lease) await this.#transact(row.id, (unit) => endRefreshLease(unit, row.id, lease));
      }
      if (Date.now() > givenUpAt)
        throw new ProviderError(
          'unavailable',
          'Another process renews the credential and does not finish. The server tries again by itself.',
        );
      await pause(pollMs);
    }
  }

  /** Stores the new credential before anybody uses it: a provider that rotates accepts the former one no more. */
  async #renew({ row, connection, stored }: Opened): Promise<void> {
    const credential = await connection.refresh?.(this.context(row, stored.credential));
    if (!credential) return;
    failpoint('integration-credential-renewed');
    const expiresAt = endOfCredential(connection, credential);
    await this.#transact(row.id, async (unit) => {
      const held = await unit.data.findLocked(integration, row.id);
      // It may have been disconnected, or connected again, while the provider was asked.
      if (!held || !withCredential.includes(held.status)) return;
      const current = await readCredential(unit, this.#options.database.options, row);
      if (!isSameCredential(current, stored)) return;
      await storeCredential(unit, row, connection.credentialRef, { credential, expiresAt });
      // Another end, of which nobody has been notified.
      if (held.expiryAnnouncedAt && expiresAt?.getTime() !== endOfCredential(connection, stored.credential)?.getTime())
        await unit.data.update(integration, row.id, { expiryAnnouncedAt: null });
    });
  }

  /**
   * After the provider has refused a credential: when it is the newest one, the integration does not work any more.
   * @returns the newest one, if it is another one
   * @throws the refusal
   */
  async #afterRefusal({ row, stored }: Opened, refusal: ProviderError): Promise<Opened> {
    const { code, message } = refusal;
    const isNewest = await this.#transact(row.id, async (unit) => {
      await unit.data.findLocked(integration, row.id);
      const isCurrent = isSameCredential(await readCredential(unit, this.#options.database.options, row), stored);
      if (isCurrent) await markErrored(unit, row.id, { code, message });
      return isCurrent;
    });
    if (isNewest) throw refusal;
    return this.#open(row.id, working);
  }

  #now(): number {
    return this.#options.database.options.clock.now().getTime();
  }

  #transact<T>(integrationId: string, work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    return this.#options.database.transact(
      workContext(systemCaller('use integration'), `integration-${integrationId}`),
      work,
    );
  }
}

function isRefused(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.code === 'unauthorized';
}
