import type { Config } from '#config/objects/root.ts';
import type { ManagedProcessOptions } from './managed-process.ts';

/** The settings of the developer. */
interface OwnSettings {
  has(path: string): boolean;
  flag(path: string): boolean | undefined;
}

/** Whether `npm start` starts an OpenID Connect provider of its own: `oidclocal` is on, and names no other one. */
export function needsLocalIdentity(personal: OwnSettings): boolean {
  return (
    personal.flag('integrations.oidclocal.enabled') === true && !personal.has('integrations.oidclocal.discoveryurl')
  );
}

/**
 * Settings with which the product uses the local provider, by path.
 * @param apiUrl to which it sends browsers back
 */
export function localIdentitySettings(url: string, apiUrl: string): Readonly<Record<string, string>> {
  return {
    'integrations.oidclocal.clientid': 'core-local',
    'integrations.oidclocal.clientsecret': 'secret-of-core-local',
    'integrations.oidclocal.discoveryurl': url,
    'integrations.oidclocal.redirecturl': `${apiUrl}/v1/integrations/auth/callback`,
  };
}

/** The process of the local provider. */
export function localIdentity(
  { integrations }: Pick<Config, 'integrations'>,
  port: number,
  environment: Readonly<Record<string, string>>,
): Pick<ManagedProcessOptions, 'name' | 'program' | 'args' | 'environment'> {
  const { clientid, clientsecret, redirecturl } = integrations.oidclocal;
  return {
    name: 'identity',
    program: 'test/kit/identity/certified-provider-main.ts',
    args: ['--port', String(port), '--client', clientid, '--callback', redirecturl],
    environment: { ...environment, LOCAL_IDENTITY_SECRET: clientsecret },
  };
}
