import { isIP } from 'node:net';
import { parseListenAddress } from '../../schema/format.ts';
import { publicApiName } from '../public-api-url.ts';
import { requireTexts, type Rule } from '../rule.ts';

const tlsRule: Rule = ({ server: { tls } }, refuse) => {
  if (!tls.enabled || tls.autocert) return;
  const { certfile, certkey } = tls;
  const why = 'server.tls.enabled is on and server.tls.autocert is off';
  requireTexts(refuse, why, 'server.tls', { certfile, certkey }, ['server.tls.enabled', 'server.tls.autocert']);
};

const autocertRule: Rule = (config, refuse) => {
  const { tls } = config.server;
  const path = 'server.tls.autocert';
  if (!tls.autocert) return;
  if (!tls.enabled)
    refuse(path, 'has no effect while server.tls.enabled is off', 'turn both on, or both off', ['server.tls.enabled']);
  for (const name of ['certfile', 'certkey'] as const) {
    if (tls[name] !== '')
      refuse(`server.tls.${name}`, `names a file, but ${path} obtains the certificate`, 'use one of the two', [path]);
  }
  const name = publicApiName(config);
  const reason = unfitName(name);
  if (reason === undefined) return;
  const remedy =
    'set domain (the certificate is then for api. and that domain), or integrations.email.apiurl to the public address of this server; on one machine use certfile and certkey';
  refuse(path, `needs a public name for this server, but ${reason}`, remedy, [
    'domain',
    'integrations.email.apiurl',
    'auth.token.issuer',
  ]);
};

/** Why no authority issues a certificate for a name, as a clause. */
function unfitName(name: string): string | undefined {
  if (name === '') return 'integrations.email.apiurl and auth.token.issuer are empty';
  if (isIP(name.replaceAll(/[[\]]/g, '')) !== 0) return `${name} is an IP address`;
  if (/(?:^|\.)localhost\.?$/.test(name)) return `${name} is known on this machine alone`;
  return name.includes('.') ? undefined : `${name} has no dot`;
}

const portRule: Rule = ({ server }, refuse) => {
  const listen = parseListenAddress(server.listen);
  const metrics = parseListenAddress(server.metricsport);
  if (listen === undefined || listen.port === 0 || listen.port !== metrics?.port) return;
  if (listen.host !== undefined && metrics.host !== undefined && listen.host !== metrics.host) return;
  refuse('server.metricsport', 'is the same port as in server.listen', 'use another port, or leave it empty', [
    'server.listen',
  ]);
};

const cookieRule: Rule = ({ server: { csrfprotection }, sessions }, refuse) => {
  const remedy = 'turn secure on, or use Lax or Strict';
  if (csrfprotection.samesite === 'None' && !csrfprotection.secure) {
    refuse('server.csrfprotection.samesite', 'requires secure, because browsers drop the cookie otherwise', remedy, [
      'server.csrfprotection.secure',
    ]);
  }
  if (sessions.samesite === 'None' && !sessions.secure) {
    refuse('sessions.samesite', 'requires secure, because browsers drop the cookie otherwise', remedy, [
      'sessions.secure',
    ]);
  }
};

/** Request headers that make a request conditional; ignoring others would change who asks, or what is asked for. */
const conditionalHeaders = [
  'etag',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
];

/** Response headers that describe the body and the connection, or give credentials. */
const ownHeaders = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'set-cookie',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const cacheRule: Rule = ({ server: { cachecontrol } }, refuse) => {
  const other = cachecontrol.etagheaders.find((name) => !conditionalHeaders.includes(name.toLowerCase()));
  if (other !== undefined)
    refuse(
      'server.cachecontrol.etagheaders',
      `has ${JSON.stringify(other)}, which is not a header of conditional requests`,
      `remove it; possible are ${conditionalHeaders.join(', ')}`,
    );
  for (const [name, value] of Object.entries(cachecontrol.nocacheheaders)) {
    if (ownHeaders.has(name.toLowerCase()))
      refuse('server.cachecontrol.nocacheheaders', `has ${name}, which each response sets itself`, 'remove it');
    if (name.toLowerCase() === 'cache-control' && /\b(?:public|s-maxage)\b/i.test(value))
      refuse(
        'server.cachecontrol.nocacheheaders',
        'lets shared caches keep responses, which may be those of other callers',
        'leave out public and s-maxage',
      );
  }
};

const summarizerRule: Rule = ({ ormconfig: { summarizer } }, refuse) => {
  if (summarizer.type !== 'llm') return;
  const { provider } = summarizer.llm;
  const base = 'ormconfig.summarizer.llm';
  const also = ['ormconfig.summarizer.type', `${base}.provider`];
  if (provider === 'none') {
    refuse(
      `${base}.provider`,
      'names no service, but ormconfig.summarizer.type is llm',
      'write llma, llmb or llmc',
      also,
    );
    return;
  }
  const { apikey, model } = summarizer.llm[provider];
  const why = `ormconfig.summarizer uses ${provider}`;
  requireTexts(refuse, why, `${base}.${provider}`, { apikey, model }, also);
  if (provider === 'llmb') {
    const { accountid } = summarizer.llm.llmb;
    requireTexts(refuse, why, `${base}.llmb`, { accountid }, also);
  }
};

const limiterRule: Rule = (config, refuse) => {
  for (const name of ['ratelimit', 'ratelimitunmatched'] as const) {
    for (const { expiration, window } of config[name].options) {
      if (expiration !== 0 && expiration < window) {
        refuse(
          `${name}.options`,
          'has an item whose expiration is shorter than its window',
          'make expiration at least as long, or 0',
          [],
        );
      }
    }
  }
};

const databaseRule: Rule = ({ db }, refuse) => {
  if (db.multiwrite) {
    const also = ['db.multiwrite', 'db.primarydbsource'];
    requireTexts(refuse, 'db.multiwrite is on', 'db', { secondarydbsource: db.secondarydbsource }, also);
    if (db.secondarydbsource !== '' && db.secondarydbsource === db.primarydbsource) {
      refuse(
        'db.secondarydbsource',
        'is the primary database',
        'name another database, or turn db.multiwrite off',
        also,
      );
    }
  }
  if (db.maxidleconnections > db.maxconnections) {
    refuse('db.maxidleconnections', `is more than db.maxconnections (${db.maxconnections})`, 'lower it', [
      'db.maxconnections',
    ]);
  }
};

/** Requirements between fields of `server`, `ormconfig`, the limiters, `sessions` and `db`. */
export const serverRules: readonly Rule[] = [
  tlsRule,
  autocertRule,
  portRule,
  cookieRule,
  cacheRule,
  summarizerRule,
  limiterRule,
  databaseRule,
];
