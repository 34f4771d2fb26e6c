import { escapeHtml } from '#entities/kit/base/escape-html.ts';
import { personIn } from '#entities/kit/model/caller.ts';
import type { ShownRequest } from './shown-trace.ts';

/** A link, or text. The address is made by the server, and its parts are encoded. */
interface Link {
  readonly text: string;
  readonly url: string | null;
}

type Cell = string | Date | Link;

/** Where the parts of a trace are, and what they are called. */
export interface TracePlaces {
  /** Path of the records of a kind, by its topic; none for records that the API does not have. */
  readonly paths: ReadonlyMap<string, string>;
  /** Names of the people whom the caller may view, by their ids. */
  readonly names: ReadonlyMap<string, string>;
  /** Path of events. */
  readonly events: string;
  /** The organization in which the caller acts: links lead to records of no other one. */
  readonly organizationId: string | null;
}

/** The trace as a page without scripts: it works offline and with the content security policy `default-src 'self'`. */
export function tracePage({ request_id, request, changes, events, runs }: ShownRequest, places: TracePlaces): string {
  const { paths, names } = places;
  const record = (topic: string, id: string, { organization_id }: { readonly organization_id: string | null }): Link =>
    linkTo(organization_id === places.organizationId ? paths.get(topic) : undefined, id, id);
  const actor = (text: string): Cell => {
    const [id] = personIn(text);
    const name = id === undefined ? undefined : names.get(id);
    return id === undefined || name === undefined ? text : linkTo(paths.get('user'), id, name);
  };
  const event = (id: string): Link => linkTo(places.events, id, id);
  const deliveries = events.flatMap(({ id, deliveries: own }) =>
    own.map((each) => [event(id), each.listener, each.status, each.error ?? '', each.updated_at]),
  );
  const messages = events.flatMap((of) =>
    of.messages.map((each) => [
      event(of.id),
      record('webhook_endpoint', each.endpoint_id, of),
      each.status,
      String(each.attempts),
    ]),
  );
  const parts = [
    table(
      'HTTP request',
      ['Method', 'Route', 'Status'],
      request === null
        ? []
        : [[request.method, request.route, request.status === null ? 'not on record' : String(request.status)]],
    ),
    table(
      'Changes',
      ['When', 'Operation', 'Kind', 'Record', 'Version', 'Fields', 'By'],
      changes.map((each) => [
        each.at,
        each.operation,
        each.kind,
        record(each.kind, each.record_id, each),
        String(each.version),
        each.fields.join(', '),
        actor(each.actor),
      ]),
    ),
    table(
      'Events',
      ['When', 'Type', 'Id', 'Record', 'Trace', 'By'],
      events.map((each) => [
        each.occurred_at,
        each.type,
        event(each.id),
        record(each.kind, each.record_id, each),
        each.trace_id ?? '',
        actor(each.actor),
      ]),
    ),
    table('Deliveries', ['Event', 'Listener', 'Status', 'Error', 'Since'], deliveries),
    table('Messages to endpoints', ['Event', 'Endpoint', 'Status', 'Failed attempts'], messages),
    runs === null
      ? '<h2>Workflow runs</h2><p>Temporal cannot be reached now.</p>'
      : table(
          'Workflow runs',
          ['Began', 'Type', 'Status', 'Workflow', 'Ended'],
          runs.map((each): Cell[] => [
            each.started_at,
            each.type,
            each.status,
            { text: each.workflow_id, url: each.url },
            each.closed_at ?? '',
          ]),
        ),
  ];
  const title = `Request ${escapeHtml(request_id)}`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><meta name="referrer" content="no-referrer"><title>${title}</title>
<link rel="stylesheet" href="/docs/style.css"></head>
<body><main><h1>${title}</h1>
${parts.join('\n')}
</main></body>
</html>
`;
}

function table(title: string, names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return `<h2>${title}</h2><p>None.</p>`;
  const head = names.map((name) => `<th scope="col">${name}</th>`).join('');
  const body = rows
    .map(
      (cells) =>
        `<tr>${cells.map((cell, index) => `<td data-title="${names[index]}"><span>${shown(cell)}</span></td>`).join('')}</tr>`,
    )
    .join('\n');
  return `<h2>${title}</h2><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

function shown(cell: Cell): string {
  if (typeof cell === 'string') return escapeHtml(cell);
  if (cell instanceof Date) return `<time>${cell.toISOString()}</time>`;
  const text = escapeHtml(cell.text);
  return cell.url === null ? text : `<a href="${escapeHtml(cell.url)}" rel="noreferrer">${text}</a>`;
}

/** @param path none: the text alone */
function linkTo(path: string | undefined, id: string, text: string): Link {
  return { text, url: path === undefined ? null : `${path}/${encodeURIComponent(id)}` };
}
