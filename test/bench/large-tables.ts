import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { percentile, type Bench, type BenchRow } from './row.ts';

/** How many tasks there are in the end; `BENCH_LARGE_TASKS` shortens a run while something is being tried. */
const allTasks = Number(process.env['BENCH_LARGE_TASKS'] ?? 1_000_000);
const tasksOfEach = 1_000;
/** Requests of each sort and size; the first tenth is not measured. */
const requests = 600;

const words =
  'access account address agreement alert annual answer approval archive area assessment asset audit backup badge baseline board boundary breach budget building cabinet camera card certificate change chart checklist claim clause client cloud code committee compliance contact contract control copy corridor council credential customer data database deadline default delivery department deputy desk device director disk document domain door draft drawer duty employee encryption entry escalation evidence exception exit expiry exposure facility factory feedback fence file finding firewall floor folder form framework gap gate goal group guard guest guide hardware hazard history host hour identity image impact incident index insurance interview inventory invoice issue journal key laptop law leader ledger letter level licence limit link list lock log machine mailbox manager manual map market matrix measure meeting member memory message method mobile model module monitor month name network notice number object office officer operation order origin outage owner package page paper partner password patch payment penalty period permit person phase phone picture plan platform policy port position practice print privacy procedure process product profile project proof proposal protocol provider purpose quality quarter question queue quota rack record recovery region register release remote repair report request resource response restore result retention review right risk role room route rule sample scan schedule scope score section sensor server service session setting shift signature site software source staff standard statement station status step storage strategy subject summary supplier support survey switch system table tag target task team template terminal test threat ticket token tool topic traffic training transfer treatment trend unit update upload user value vendor version visitor vote warehouse warning window witness word work workshop year zone'.split(
    ' ',
  );

const post = (query: string, variables: object) => ({ query, variables });

/** Requests as users make them, by what they measure. */
const sorts = {
  list: (n: number) =>
    [
      post('{ tasks(first: 25) { edges { node { id title status } } pageInfo { hasNextPage endCursor } } }', {}),
      post(
        'query ($p: Int!) { tasks(first: 25, where: { priority: { eq: $p } }, orderBy: [{ field: CREATED_AT, direction: DESC }]) { edges { node { id title } } } }',
        { p: n % 100 },
      ),
      post(
        'query ($t: String!) { tasks(first: 25, where: { title: { startsWith: $t } }, orderBy: [{ field: TITLE, direction: ASC }]) { edges { node { id title } } } }',
        { t: wordAt(n) },
      ),
    ][n % 3] as object,
  search: (n: number) =>
    post('query ($q: String!) { taskSearch(query: $q, first: 25) { edges { node { id title } } } }', {
      q: [
        wordAt(n),
        `${wordAt(n)} ${wordAt(n * 7 + 3)}`,
        wordAt(n).slice(0, 4),
        // Two letters have changed places.
        wordAt(n).replace(/^(..)(.)(.)/, '$1$3$2'),
      ][n % 4],
    }),
} as const;
type Sort = keyof typeof sorts;

const wordAt = (n: number) => words[n % words.length] as string;

/** Times of single requests, one after the other, in milliseconds. */
type Times = Readonly<Record<Sort, readonly number[]>>;

let measured: Promise<readonly [number, Times, Times]> | undefined;

/** Both sizes in one installation, once for both benchmarks: the large one takes minutes to fill. */
async function measure(say: (line: string) => void): Promise<readonly [number, Times, Times]> {
  const installation = await openApiInstallation();
  try {
    const { client, people } = installation;
    const before = people.length * tasksOfEach;
    await client.query(
      `update tasks set title = made.title, details = made.details
       from (select t.id, ${textOf('t.id', 3)} as title, ${textOf('t.id', 14)} as details from tasks t) as made where made.id = tasks.id`,
      [words],
    );
    await settle(installation);
    say(`${before} tasks in ${people.length} organizations`);
    const small = await timesOf(installation);
    await fill(installation, say);
    await settle(installation);
    const large = await timesOf(installation);
    return [before, small, large];
  } finally {
    await installation.close();
  }
}

/** SQL of a text of random words, the same for the same id. $1: the words. */
function textOf(id: string, count: number): string {
  const picks = Array.from(
    { length: count },
    (_, index) => `$1[1 + abs(hashtextextended(${id}, ${count * 100 + index})) % array_length($1::text[], 1)]`,
  );
  return picks.map((pick) => `(${pick.replace('$1[', '($1::text[])[')})`).join(` || ' ' || `);
}

/** Further organizations with as many tasks as the first ones. */
async function fill({ client, people }: ApiInstallation, say: (line: string) => void): Promise<void> {
  const organizations = Math.max(0, Math.ceil(allTasks / tasksOfEach) - people.length);
  for (let done = 0; done < organizations; done += 100) {
    const range = [done, Math.min(done + 100, organizations) - 1];
    await client.query(
      `insert into organizations (id, created_at, updated_at, created_by, updated_by, record_version, name, name_form, is_personal, is_archived)
       select '01K' || lpad(upper(to_hex(o)), 23, '0'), now(), now(), 'system:benchmark', 'system:benchmark', 1, 'large-' || o, 'large-' || o, false, false
       from generate_series($1::int, $2::int) as o`,
      range,
    );
    await client.query(
      `insert into tasks (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, display_id,
         title, details, status, priority, tags, external_urls)
       select id, now(), now(), 'system:benchmark', 'system:benchmark', 1, organization, 'TSK-' || n,
         ${textOf('id', 3)}, ${textOf('id', 14)}, 'open', n % 100, array['one', 'two'], '{}'
       from (select '01K' || lpad(upper(to_hex(o)), 23, '0') as organization, n,
           '01M' || lpad(upper(to_hex(o::bigint * ${tasksOfEach} + n)), 23, '0') as id
         from generate_series($2::int, $3::int) as o, generate_series(1, ${tasksOfEach}) as n) as made`,
      [words, ...range],
    );
    say(`${(people.length + (range[1] ?? 0) + 1) * tasksOfEach} tasks`);
  }
}

/** As autovacuum leaves a table some minutes later. */
async function settle({ client }: ApiInstallation): Promise<void> {
  await client.query('vacuum analyze tasks');
  await client.query('checkpoint');
}

async function timesOf({ url, people }: ApiInstallation): Promise<Times> {
  const times: Record<Sort, number[]> = { list: [], search: [] };
  for (const sort of ['list', 'search'] as const)
    for (let n = 0; n < requests; n++) {
      // Whole rounds of requests for each person.
      const person = people[Math.floor(n / 12) % people.length];
      const startedAt = performance.now();
      const answer = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${person?.token}` },
        body: JSON.stringify(sorts[sort](n)),
      });
      const body = (await answer.json()) as { readonly errors?: unknown };
      if (body.errors) throw new Error(`${sort}: ${JSON.stringify(body.errors)}`);
      if (n >= requests / 10) times[sort].push(performance.now() - startedAt);
    }
  return times;
}

function benchOf(sort: Sort, what: string): Bench {
  const name = `${sort}-at-1m`;
  return {
    name,
    // Filling the table takes minutes.
    isLong: true,
    run: async (say) => {
      measured ??= measure(say);
      const [before, small, large] = await measured;
      return (
        [
          ['p50', 0.5],
          ['p99', 0.99],
        ] as const
      ).map(([label, share]): BenchRow => {
        const [ours, reference] = [percentile(large[sort], share), percentile(small[sort], share)];
        return {
          name: `${name}-${label}`,
          unit: 'ms',
          ours,
          reference,
          ratio: reference / ours,
          spread: 0,
          note: `${what} in ${allTasks} tasks of ${allTasks / tasksOfEach} organizations; reference: in ${before} tasks`,
        };
      });
    },
  };
}

export const listAt1m = benchOf('list', 'lists, filtered and ordered,');
export const searchAt1m = benchOf('search', 'searches for words, parts of words and misspelt words');
