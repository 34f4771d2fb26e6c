import { escapeHtml } from '#entities/kit/base/escape-html.ts';
import type { ShownRequest } from './shown-trace.ts';

/** A link, or text. The address is made by the server, and its parts are encoded. */
interface Link {
  readonly text: string;
  readonly url: string | null;
}

type Cell = string | Link;

/** The trace as a page without scripts: it works offline and with the content security policy `default-src 'self'`. */
export function tracePage({ request_id, changes, events, runs }: ShownRequest): string {
  const deliveries = events.flatMap(({ id, deliveries: own }) =>
    own.map((each) => [id, each.listener, each.status, each.error ?? '', time(each.updated_at)]),
  );
  const messages = events.flatMap(({ id, messages: own }) =>
    own.map((each) => [id, each.endpoint_id, each.status, String(each.attempts)]),
  );
  const parts = [
    table(
      'Changes',
      ['When', 'Operation', 'Kind', 'Record', 'Version', 'Fields', 'By'],
      changes.map((each) => [
        time(each.at),
        each.operation,
        each.kind,
        each.record_id,
        String(each.version),
        each.fields.join(', '),
        each.actor,
      ]),
    ),
    table(
      'Events',
      ['When', 'Type', 'Id', 'Record', 'Trace', 'By'],
      events.map((each) => [
        time(each.occurred_at),
        each.type,
        each.id,
        each.record_id,
        each.trace_id ?? '',
        each.actor,
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
            time(each.started_at),
            each.type,
            each.status,
            { text: each.workflow_id, url: each.url },
            each.closed_at === null ? '' : time(each.closed_at),
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
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${shown(cell)}</td>`).join('')}</tr>`).join('\n');
  return `<h2>${title}</h2><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

function shown(cell: Cell): string {
  if (typeof cell === 'string') return escapeHtml(cell);
  const text = escapeHtml(cell.text);
  return cell.url === null ? text : `<a href="${escapeHtml(cell.url)}" rel="noreferrer">${text}</a>`;
}

function time(at: Date): string {
  return at.toISOString();
}
