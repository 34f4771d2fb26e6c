import { generateKeyPairSync } from 'node:crypto';

type Values = Readonly<Record<string, unknown>>;

/** Values with which an adapter asks its provider. */
export interface AdapterSample {
  /** Leaves of `integrations`. @param url of the provider */
  readonly settings: (url: string) => Values;
  readonly credential: Values;
  readonly userInput?: Values;
  /** Input of operations, by their names. */
  readonly inputs?: Readonly<Record<string, Values>>;
  /** Parameters of the callback, and what was kept for it. */
  readonly answer?: Readonly<Record<string, string>>;
  readonly kept?: Readonly<Record<string, string>>;
  /** Calls that ask nothing, such as `run claimsInspect`. */
  readonly asksNothing?: readonly string[];
}

const tenantId = 'aaaaaaaa-1111-4111-8111-000000000001';

const app = { clientid: 'app', clientsecret: 'secret', redirecturl: 'https://api.example.com/callback' };

const kept = { nonce: 'nonce', verifier: 'v'.repeat(43), begunAt: '2026-01-01T00:00:00Z' };

const privatekey = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

const answer = { code: 'code-1', state: 'state-of-the-request' };

/** One for each integration with an adapter, by the id of its definition. */
export const adapterSamples: Readonly<Record<string, AdapterSample>> = {
  chat: {
    settings: () => ({ chat: app }),
    credential: { accessToken: 'token-1', refreshToken: 'token-2' },
    inputs: { messageSend: { text: 'hello', channel: 'C0123456789' } },
    answer,
    kept,
    asksNothing: ['begin workspace'],
  },
  codehostapp: {
    settings: () => ({ codehostapp: { appid: '1', appslug: 'app', privatekey } }),
    credential: { installationId: '1', login: 'org', isOrganization: true, accessToken: 'token-1' },
    answer: { ...answer, installation_id: '1' },
    kept,
    asksNothing: ['begin installation'],
  },
  directoryservice: {
    settings: () => ({ directoryservice: app }),
    credential: { tenantId, accessToken: 'token-1' },
    answer,
    kept: { ...kept, tenantId },
    asksNothing: ['begin tenant', 'proceed tenant'],
  },
  officesuite: {
    settings: () => ({ officesuite: app }),
    credential: { accessToken: 'token-1', refreshToken: 'token-2' },
    answer,
    kept,
    asksNothing: ['begin signIn'],
  },
  oidclocal: {
    settings: (url) => ({ oidclocal: { ...app, enabled: true, discoveryurl: url } }),
    credential: { accessToken: 'token-1', claims: { sub: 'person-1' } },
    answer,
    kept,
    asksNothing: ['run claimsInspect', 'read directorySync'],
  },
  teamchat: {
    settings: () => ({ teamchat: app }),
    credential: { accessToken: 'token-1', refreshToken: 'token-2' },
    inputs: {
      messageSend: {
        text: 'hello',
        channelUrl:
          'https://teams.microsoft.com/l/channel/19%3Aa%40thread.tacv2/General?groupId=aaaaaaaa-0000-4000-8000-000000000001',
      },
    },
    answer,
    kept,
    asksNothing: ['begin signIn'],
  },
};
