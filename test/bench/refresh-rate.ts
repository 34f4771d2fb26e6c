import { GeneratedKey } from '#api/auth/generated-key.ts';
import { KeyRing } from '#api/auth/key-ring.ts';
import { RefreshTokens } from '#api/auth/refresh-token.ts';
import { SignedTokens } from '#api/auth/signed-tokens.ts';
import { systemClock } from '#entities/kit/base/clock.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { createLogger } from '#runtime/logger.ts';
import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { probe } from './http-probe.ts';
import { pace } from './pace.ts';
import { median, spreadOf, type Bench } from './row.ts';

const clients = 16;

/** Sessions that are made for each round; a faster round ends when all are refreshed. */
const sessionsPerSecond = 2_000;

/** Refreshes a second: each uses up a token and gives new ones. Every session is refreshed once, at once. */
export const refreshRate: Bench = {
  name: 'refresh',
  run: async (say) => {
    const installation = await openApiInstallation();
    const keys = await sameKeys(installation);
    try {
      const round = async (forMs: number) => {
        const tokens = await newSessions(installation, keys, Math.ceil((forMs / 1_000) * sessionsPerSecond));
        const startedAt = performance.now();
        let count = 0;
        const oneClient = async () => {
          for (;;) {
            const token = tokens.pop();
            if (token === undefined || performance.now() >= startedAt + forMs) return;
            await refreshOnce(installation, token);
            count++;
          }
        };
        await Promise.all(Array.from({ length: clients }, oneClient));
        return count / ((performance.now() - startedAt) / 1_000);
      };
      await round(pace.warmUpMs);
      const rounds: number[] = [];
      for (let index = 0; index < pace.rounds; index++) {
        rounds.push(await round(pace.roundMs));
        say(`round ${index + 1}: ${Math.round(rounds.at(-1) ?? 0)} a second`);
      }
      return [
        {
          name: 'refresh',
          unit: 'requests/s',
          ours: median(rounds),
          reference: null,
          ratio: null,
          spread: spreadOf(rounds),
          note: `refreshes by ${clients} clients, each of another session`,
        },
      ];
    } finally {
      keys.stop();
      await installation.close();
    }
  },
};

async function refreshOnce({ url, people }: ApiInstallation, refreshToken: string): Promise<void> {
  const answer = await probe({
    method: 'POST',
    url: `${url}/v1/refresh`,
    // It replaces the CSRF token.
    token: people[0]?.token,
    body: { refresh_token: refreshToken },
  });
  if (answer.status !== 200) throw new Error(`refresh: answered ${answer.status}: ${answer.body}`);
}

/** The generated key of the installation. */
function sameKeys({ environment }: ApiInstallation): Promise<KeyRing> {
  const kid = environment['CORE_AUTH_TOKEN_KID'] ?? '';
  const generated = new GeneratedKey(
    () => kid,
    () => true,
    environment['STACK_STATE_DIR'] ?? '',
  );
  return KeyRing.load({
    sources: [generated],
    choice: () => ({ kid, cacheTtlMs: 300_000 }),
    timeoutMs: 0,
    logger: createLogger('bench', { level: 'error' }),
  });
}

/** Sessions as sign-ins leave them, without history. @returns their refresh tokens, which are valid already */
async function newSessions(
  { client, people, environment }: ApiInstallation,
  keys: KeyRing,
  count: number,
): Promise<string[]> {
  const parties = {
    issuer: environment['CORE_AUTH_TOKEN_ISSUER'] ?? '',
    audience: environment['CORE_AUTH_TOKEN_AUDIENCE'] ?? '',
  };
  const settings = { ...parties, refreshDurationMs: 7_200_000, refreshOverlapMs: -900_000 };
  const issuer = new RefreshTokens(new SignedTokens(keys, systemClock), () => settings, systemClock);
  const expiresAt = issuer.sessionEnd();
  const issued = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const { userId } = people[index % people.length] as (typeof people)[number];
      return issuer.issue({ userId, sessionId: newId(), expiresAt }, new Date());
    }),
  );
  const organizations = new Map(people.map(({ userId, organizationId }) => [userId, organizationId]));
  await client.query(
    `insert into sessions (id, created_at, updated_at, created_by, updated_by, record_version, user_id, address, last_seen_at,
       expires_at, active_organization_id, refresh_token_hash)
     select id, now(), now(), 'system:benchmark', 'system:benchmark', 1, user_id, '127.0.0.1', now(), $1, organization_id, hash
     from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as given (id, user_id, organization_id, hash)`,
    [
      expiresAt,
      issued.map(({ sessionId }) => sessionId),
      issued.map(({ userId }) => userId),
      issued.map(({ userId }) => organizations.get(userId)),
      issued.map(({ tokenHash }) => tokenHash),
    ],
  );
  return issued.map(({ token }) => token);
}
