import type { Config } from '#config/objects/root.ts';
import { FolderTransport } from './folder-transport.ts';
import { ProviderA } from './provider-a.ts';
import { ProviderB } from './provider-b.ts';
import { providerTimeoutMs } from './provider-request.ts';
import type { EmailCarrier, EmailTransport } from './transport.ts';

/** Where the providers are, and how patient the server is; both are for tests, and the addresses are used only while `server.dev` is on. */
export interface EmailProviderSettings {
  readonly urls?: { readonly [Name in 'providera' | 'providerb']?: string };
  readonly timeoutMs?: number;
  /** How long after an attempt without an answer the provider is asked what became of it, in milliseconds. */
  readonly askAfterMs?: number;
  /** Pause after a refused key, in milliseconds. */
  readonly operatorPauseMs?: number;
}

const providerUrls = { providera: 'https://api.resend.com', providerb: 'https://api.postmarkapp.com' } as const;

/** Base URL of a provider: settings of a test are used only while `server.dev` is on. */
export function providerUrl(
  carrier: keyof typeof providerUrls,
  { server }: Pick<Config, 'server'>,
  { urls }: EmailProviderSettings,
): string {
  return (server.dev ? urls?.[carrier] : undefined) ?? providerUrls[carrier];
}

/** Current carrier of mails (`integrations.email`); undefined while nothing is configured. */
export function emailTransport(config: Config, settings: EmailProviderSettings): EmailTransport | undefined {
  const { testdir, provider } = config.integrations.email;
  if (config.server.dev && testdir) return new FolderTransport(testdir);
  return provider === '' ? undefined : transportOf(provider, config, settings);
}

/** Carriers of earlier mails, with the current configuration; undefined when it has no key any more. */
export function transportOf(
  carrier: EmailCarrier,
  config: Config,
  settings: EmailProviderSettings,
): EmailTransport | undefined {
  const { testdir, providera, providerb } = config.integrations.email;
  if (carrier === 'folder') return testdir ? new FolderTransport(testdir) : undefined;
  const url = providerUrl(carrier, config, settings);
  const timeoutMs = settings.timeoutMs ?? providerTimeoutMs;
  if (carrier === 'providera')
    return providera.apikey ? new ProviderA({ url, apiKey: providera.apikey, timeoutMs }) : undefined;
  const { servertoken, messagestream, trackopens, tracklinks } = providerb;
  if (!servertoken) return undefined;
  return new ProviderB({
    url,
    serverToken: servertoken,
    messageStream: messagestream,
    trackOpens: trackopens,
    trackLinks: tracklinks,
    timeoutMs,
  });
}
