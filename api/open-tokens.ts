import type { Logger } from 'pino';
import { SecretVersions, type SecretManagerEndpoint } from '#activities/clients/secret-manager/secret-versions.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import { ConfiguredKeys } from './auth/configured-keys.ts';
import { GeneratedKey } from './auth/generated-key.ts';
import { KeyFolder } from './auth/key-folder.ts';
import { KeyRing } from './auth/key-ring.ts';
import type { KeySource } from './auth/key-source.ts';
import { RemoteKeys } from './auth/remote-keys.ts';
import { SecretKeys } from './auth/secret-keys.ts';
import { SignedTokens } from './auth/signed-tokens.ts';
import { foreignKeySet } from './http/key-set-url.ts';

interface TokenOptions {
  readonly config: ConfigStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Folder of the generated signing key. */
  readonly stateFolder: string;
  readonly secretManager?: SecretManagerEndpoint | undefined;
}

/**
 * Loads the signing keys of all configured sources and follows their changes until `close`.
 * @throws StartError when a configured key cannot be used, or none may sign
 */
export async function openTokens(
  options: TokenOptions,
): Promise<{ readonly tokens: SignedTokens; readonly close: () => void }> {
  const { config, clock, logger } = options;
  const { secretmanager } = config.current.server;
  const secret = secretmanager === '' ? undefined : new SecretVersions(secretmanager, options.secretManager);
  const keys = await KeyRing.load({
    sources: keySources(options, secret),
    choice: () => ({ kid: config.current.auth.token.kid, cacheTtlMs: config.current.auth.token.jwkscachettl }),
    timeoutMs: config.current.server.shutdowngraceperiod,
    logger,
  });
  const unsubscribe = config.subscribe('auth.token', () => {
    keys.poll().catch((error: unknown) => logger.error({ err: error }, 'the new signing keys cannot be used'));
  });
  return {
    tokens: new SignedTokens(keys, clock, remoteKeys(options)),
    close: () => {
      unsubscribe();
      keys.stop();
      void secret?.close();
    },
  };
}

/** The configured sources; those that the configuration itself contains first. */
function keySources({ config, clock, stateFolder }: TokenOptions, secret: SecretVersions | undefined): KeySource[] {
  const { auth, keywatcher, server } = config.current;
  const token = () => config.current.auth.token;
  const sources: KeySource[] = [new ConfiguredKeys(() => token().keys)];
  if (keywatcher.enabled) sources.push(new KeyFolder(keywatcher.keydir));
  if (secret) sources.push(new SecretKeys(server.secretmanager, () => secret.newest(), clock));
  if (sources.length > 1 || !auth.token.generatekeys) return sources;
  const isNeeded = () => Object.keys(token().keys).length === 0;
  return [...sources, new GeneratedKey(() => token().kid, isNeeded, stateFolder)];
}

/** The keys of `auth.token.jwksendpoint`, when another server answers there. */
function remoteKeys({ config, clock, logger }: TokenOptions): RemoteKeys | undefined {
  const url = foreignKeySet(config.current);
  return url && new RemoteKeys({ url, cacheTtlMs: () => config.current.auth.token.jwkscachettl, clock, logger });
}
