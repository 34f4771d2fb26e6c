/** Content of `.local/ready.json`. Every URL responds to GET. A text is empty when there is nothing to name. */
export interface ReadyFacts {
  readonly urls: {
    readonly api: string;
    readonly graphql: string;
    readonly docs: string;
    readonly metrics: string;
    readonly workerMetrics: string;
    readonly temporalUi: string;
    /** Pages of the payment provider that `npm start` has started. */
    readonly payment?: string;
    /** Discovery document of the OpenID Connect provider that `npm start` has started. */
    readonly identity?: string;
  };
  readonly demo: {
    /** The user that the printed commands sign in, and the organization. */
    readonly email: string;
    readonly password: string;
    readonly organizationId: string;
    /** All users with that password, and their role in each organization. */
    readonly people: readonly { readonly email: string; readonly roles: Readonly<Record<string, string>> }[];
  };
  readonly pids: Readonly<Record<string, number>>;
  readonly startedInMs: number;
}

/** There are no demo data when the user configured the database. */
export const noDemo: ReadyFacts['demo'] = { email: '', password: '', organizationId: '', people: [] };

/**
 * The text that `npm start` prints: all addresses, what is off, and three commands to copy.
 * @param off what is off, and how it is turned on
 */
export function readyBlock(
  { urls, demo, startedInMs }: ReadyFacts,
  csrf: { readonly cookie: string; readonly header: string },
  off: readonly string[],
): string {
  return `
Ready in ${(startedInMs / 1_000).toFixed(1)} s. Ctrl-C stops everything.

  API           ${urls.api}
  GraphQL       ${urls.graphql}
  Reference     ${urls.docs}
  Metrics       ${urls.metrics || '(off: server.metricsport is empty)'}
                ${urls.workerMetrics ? `${urls.workerMetrics} (worker)` : ''}
  Temporal UI   ${urls.temporalUi || '(your own)'}
${urls.payment ? `  Payments      ${urls.payment} (a fake: checkouts, portals, test clocks)\n` : ''}${urls.identity ? `  Directory     ${urls.identity} (an OpenID Connect provider: integration oidclocal)\n` : ''}  Mails         npm run -s mail -- ADDRESS
  Off           ${off.join('\n                ')}

${demo.email === '' ? '  There are no demo data, because the database is your own. The README shows how to sign up.\n' : demoCalls(urls, demo, csrf)}
`;
}

function personLine({ email, roles }: ReadyFacts['demo']['people'][number]): string {
  const said = Object.entries(roles).map(([organization, role]) => `${role} of ${organization}`);
  return `  ${email.padEnd(20)}  ${said.join(', ')}\n`;
}

function demoCalls(
  urls: ReadyFacts['urls'],
  demo: ReadyFacts['demo'],
  csrf: { readonly cookie: string; readonly header: string },
): string {
  const jar = '.local/cookies.txt';
  const token = `-H "${csrf.header}: $(awk '/${csrf.cookie}/{print $7}' ${jar})" -H 'content-type: application/json'`;
  return `\
  Demo users, all with the password ${demo.password}

${demo.people.map(personLine).join('')}
  Get the CSRF cookie, sign in, and query your user and organizations:

  curl -sS -c ${jar} ${urls.api}/livez
  curl -sS -b ${jar} -c ${jar} ${token} \\
    -d '{"username":"${demo.email}","password":"${demo.password}"}' ${urls.api}/v1/login
  curl -sS -b ${jar} ${token} \\
    -d '{"query":"{ self { displayName } organizations { edges { node { name } } } }"}' ${urls.api}/graphql
`;
}
