/**
 * Formats of configuration texts: addresses, URLs, names. A format returns the reason why a text does not match. The
 * parsers are exported for the code that uses the values.
 */
import { isIPv4, isIPv6 } from 'node:net';

/** The format of a text. */
export interface Format {
  /** Name in messages and in the reference: `a listen address`. */
  readonly name: string;
  /** Example of a valid value. */
  readonly example: string;
  /** The format as a regular expression where possible, for editors that use the JSON Schema. */
  readonly pattern?: string;
  /** The reason why a text does not match, as a clause that does not quote the text; undefined when it matches. */
  readonly check: (text: string) => string | undefined;
}

function patternFormat(name: string, example: string, pattern: string): Format {
  const expression = new RegExp(pattern, 'u');
  return { name, example, pattern, check: (text) => (expression.test(text) ? undefined : `is not ${name}`) };
}

/** An address to listen on; `host` is undefined for every interface. */
export interface ListenAddress {
  readonly host: string | undefined;
  readonly port: number;
}

const hostName = /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62}))*$/u;

/**
 * Parses `:port` (every interface), `host:port` or `[v6]:port`; port 0 lets the system choose. Returns undefined when
 * the text is none of these.
 */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[(?<v6>[^\]]*)\]|(?<name>[^:[\]]*)):(?<port>\d{1,5})$/u.exec(text)?.groups;
  if (match === undefined) return undefined;
  const port = Number(match.port);
  if (port > 65_535) return undefined;
  if (match.v6 !== undefined) return isIPv6(match.v6) ? { host: match.v6, port } : undefined;
  if (match.name === '' || match.name === undefined) return { host: undefined, port };
  const numeric = /^[\d.]+$/u.test(match.name);
  return (numeric ? isIPv4(match.name) : hostName.test(match.name)) ? { host: match.name, port } : undefined;
}

/** `:port`, `host:port` or `[v6]:port`. */
export const listenAddress: Format = {
  name: 'a listen address',
  example: ':17608, 127.0.0.1:17608 or [::1]:17608',
  check: (text) => (parseListenAddress(text) === undefined ? 'is not :port, host:port or [v6]:port' : undefined),
};

/** The longest path of a socket that Linux and macOS accept, in bytes. */
const maxSocketPath = 103;

/** The path in `unix:/path`; undefined for every other text. */
export function parseSocketPath(text: string): string | undefined {
  const path = /^unix:(\/[^\0]*[^\0/])$/u.exec(text)?.[1];
  return path !== undefined && Buffer.byteLength(path) <= maxSocketPath ? path : undefined;
}

/** A listen address, or the path of a Unix socket. */
export const listenAddressOrSocket: Format = {
  name: 'a listen address',
  example: `${listenAddress.example} or unix:/run/core/api.sock`,
  check: (text) =>
    parseSocketPath(text) === undefined && parseListenAddress(text) === undefined
      ? 'is not :port, host:port, [v6]:port or unix:/path'
      : undefined,
};

/** `host:port` of another server. */
export const hostAndPort: Format = {
  name: 'a host and port',
  example: '127.0.0.1:6379',
  check: (text) => {
    const address = parseListenAddress(text);
    return address?.host === undefined || address.port === 0 ? 'is not host:port' : undefined;
  },
};

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) && !/[\s\\]/u.test(text) ? new URL(text) : undefined;
}

/** `postgres://user:password@host:port/database`. A socket folder is written as the parameter `host`. */
export const postgresUrl: Format = {
  name: 'a PostgreSQL URL',
  example: 'postgres://user:password@127.0.0.1:5432/core',
  check: (text) => {
    if (!/^postgres(?:ql)?:\/\//u.test(text)) return 'does not start with postgres://';
    if (/^[a-z]+:\/\/(?:[^/?#]*@)?(?::\d*)?(?:[/?#]|$)/u.test(text) && !/[?&]host=./u.test(text))
      return 'names no host';
    const url = parseUrl(text);
    if (url === undefined) return 'is not a URL (special characters of the password must be percent-encoded)';
    return url.pathname.length < 2 ? 'names no database after the host' : undefined;
  },
};

/** The parts of `temporal://host:port/namespace`. */
export interface TemporalAddress {
  /** `host:port`, as the Temporal client expects it. */
  readonly address: string;
  readonly namespace: string;
}

/** Parses `temporal://host:port/namespace`. Returns undefined for any other text. */
export function parseTemporalUrl(text: string): TemporalAddress | undefined {
  const match = /^temporal:\/\/(?<address>[^/@?#]+)\/(?<namespace>[A-Za-z0-9][\w.-]{0,254})$/u.exec(text)?.groups;
  if (match?.address === undefined || match.namespace === undefined) return undefined;
  return hostAndPort.check(match.address) === undefined
    ? { address: match.address, namespace: match.namespace }
    : undefined;
}

/** `temporal://host:port/namespace`. */
export const temporalUrl: Format = {
  name: 'a Temporal address',
  example: 'temporal://127.0.0.1:7233/default',
  check: (text) => {
    if (!text.startsWith('temporal://')) return 'does not start with temporal://';
    if (text.includes('@')) return 'contains credentials, which belong in TEMPORAL_API_KEY';
    return parseTemporalUrl(text) === undefined ? 'is not temporal://host:port/namespace' : undefined;
  },
};

/** `http://` or `https://` with a host, without credentials. */
export const httpUrl: Format = {
  name: 'an http or https URL',
  example: 'https://api.example.com',
  pattern: '^(?:https?://.+)?$',
  check: (text) => {
    if (!/^https?:\/\//u.test(text)) return 'does not start with http:// or https://';
    const url = parseUrl(text);
    if (url === undefined) return 'is not a URL';
    return url.username === '' && url.password === '' ? undefined : 'contains a user name or password';
  },
};

/** A host, or the `http://` or `https://` URL of one. */
export const hostOrUrl: Format = {
  name: 'a host name or an http or https URL',
  example: 'auth.example.com',
  check: (text) => httpUrl.check(/^https?:\/\//u.test(text) ? text : `https://${text}`),
};

/** A key of at least 32 characters, or several keys separated by commas, for rotation. */
export const keyList: Format = {
  name: 'a key of at least 32 characters, or several separated by commas',
  example: 'a-new-key-0123456789abcdef01234567,the-key-before-0123456789abcdef01234',
  pattern: '^(?:[^,]{32,}(?:,[^,]{32,})*)?$',
  check: (text) =>
    text.split(',').every((key) => key.trim().length >= 32)
      ? undefined
      : 'contains a key that is shorter than 32 characters (keys are separated by commas)',
};

/** An http(s) URL, or a path of this server that starts with `/`. */
export const urlOrPath: Format = {
  name: 'an http or https URL or a path',
  example: '/v1/callback',
  check: (text) => (/^\/(?!\/)[^\s\\]*$/u.test(text) ? undefined : httpUrl.check(text)),
};

/** The origin of a web page, or `*`. */
export const webOrigin: Format = {
  name: 'a web origin',
  example: 'https://console.example.com',
  check: (text) =>
    text === '*' || (httpUrl.check(text) === undefined && new URL(text).origin === text)
      ? undefined
      : 'is not scheme://host[:port] without path and without trailing slash',
};

/** A DNS name. */
export const domainName: Format = {
  name: 'a domain name',
  example: 'example.com',
  check: (text) => (hostName.test(text) && !/^[\d.]+$/u.test(text) ? undefined : 'is not a domain name'),
};

const mailbox = /^[^\s@<>"(),:;\\[\]]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*$/u;

/** An e-mail address, or `Name <address>`. */
export const emailSender: Format = {
  name: 'a sender',
  example: 'Core <no-reply@example.com>',
  check: (text) => {
    const bracketed = /^[^<>\r\n]{0,100}<(?<address>[^<>]+)>$/u.exec(text)?.groups?.address;
    return mailbox.test(bracketed ?? text) ? undefined : 'is neither an e-mail address nor Name <address>';
  },
};

/** The value of an HTTP header: printable characters on one line. */
export const headerValue: Format = patternFormat('a header value on one line', 'nosniff', String.raw`^[\t\x20-\x7e]*$`);

/** The name of an HTTP header or of a cookie (RFC 9110 token). */
export const token: Format = patternFormat(
  'a name without spaces and separators',
  'X-Csrf-Token',
  String.raw`^[!#$%&'*+.^_\x60|~0-9A-Za-z-]*$`,
);

/** A path of this server. */
export const serverPath: Format = patternFormat('a path starting with /', '/', String.raw`^(?:/[^\s?#\\]*)?$`);

/** Without control and format characters. */
export const singleLineName: Format = patternFormat(
  'a name in one line',
  'Vendor',
  String.raw`^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*[^\p{C}\p{Z}][^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$`,
);

/** A ULID. */
export const ulid: Format = patternFormat('a ULID', '01J0000000000000000000000A', '^(?:[0-7][0-9A-HJKMNP-TV-Z]{25})?$');

/** A color of a mail theme. */
export const color: Format = patternFormat('a color', '#14171e', '^(?:#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}))?$');

/** An instant in RFC 3339. */
export const instant: Format = {
  name: 'an RFC 3339 instant',
  example: '2030-01-31T12:00:00Z',
  check: (text) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/u.test(text) && !Number.isNaN(Date.parse(text))
      ? undefined
      : 'is not an RFC 3339 instant',
};

/** A cron expression of five fields, or one of its short names. */
export const cron: Format = {
  name: 'a cron expression',
  example: '0 3 * * *',
  check: (text) =>
    /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/u.test(text) || isCron(text.split(' '))
      ? undefined
      : 'is not a cron expression of five fields: minute, hour, day of the month, month, day of the week',
};

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Smallest and largest value of each field, and the names that stand for values. */
const cronFields: readonly { readonly from: number; readonly to: number; readonly names: readonly string[] }[] = [
  { from: 0, to: 59, names: [] },
  { from: 0, to: 23, names: [] },
  { from: 1, to: 31, names: [] },
  { from: 1, to: 12, names: months },
  { from: 0, to: 7, names: days },
];

function isCron(texts: readonly string[]): boolean {
  return texts.length === cronFields.length && cronFields.every((field, n) => isCronField(texts[n] ?? '', field));
}

/** Values, ranges and steps, separated by commas. */
function isCronField(text: string, { from, to, names }: (typeof cronFields)[number]): boolean {
  const valueOf = (one: string) => (/^\d{1,2}$/u.test(one) ? Number(one) : from + names.indexOf(one.toLowerCase()));
  const isValue = (one: string) =>
    /^\d{1,2}$/u.test(one) ? Number(one) >= from && Number(one) <= to : names.includes(one.toLowerCase());
  return text.split(',').every((part) => {
    const [range = '', step, ...others] = part.split('/');
    const [first = '', last, ...more] = range.split('-');
    if (others.length + more.length > 0 || (step !== undefined && !/^[1-9]\d?$/u.test(step))) return false;
    if (range === '*' || range === '?') return true;
    return isValue(first) && (last === undefined || (isValue(last) && valueOf(first) <= valueOf(last)));
  });
}

/** The prefix of names in a Temporal namespace. */
export const namePrefix: Format = patternFormat('a short lower-case name', 'core', '^[a-z][a-z0-9_-]{0,62}$');

/** An environment variable's name, or its beginning. */
export const variableName: Format = patternFormat(
  'the beginning of a variable name',
  'CORE_API_TOKEN_KEY_',
  '^(?:[A-Z][A-Z0-9_]*)?$',
);

/** A secret of Google Cloud Secret Manager. */
export const secretName: Format = patternFormat(
  'the name of a secret',
  'projects/my-project/secrets/signing-key',
  String.raw`^(?:(?:projects/[\w.:-]{1,100}/secrets/)?[\w-]{1,255})?$`,
);

/** A payment API version used as a map key, or any other short name. */
export const shortName: Format = patternFormat(
  'a name of letters, digits, dots, dashes and underscores',
  'key-1',
  String.raw`^[\w.-]{1,100}$`,
);
