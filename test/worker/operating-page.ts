import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Scrape } from '../kit/processes/scrape.ts';

const root = new URL('../../', import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** A query of a dashboard or of a rule. */
export interface Query {
  readonly where: string;
  readonly expression: string;
}

interface Dashboard {
  readonly title: string;
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly type: string;
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

export const dashboards: readonly Dashboard[] = ['requests', 'work'].map(
  (name) => JSON.parse(textOf(`docs/operating/${name}-dashboard.json`)) as Dashboard,
);

export const alerts: readonly Alert[] = (
  parse(textOf('docs/operating/alerts.yaml')) as { groups: { rules: Alert[] }[] }
).groups.flatMap(({ rules }) => rules);

export const queries: readonly Query[] = [
  ...dashboards.flatMap(({ title, panels }) =>
    panels.flatMap((panel) =>
      (panel.targets ?? []).map(({ expr }) => ({ where: `${title}: ${panel.title}`, expression: expr })),
    ),
  ),
  ...alerts.map(({ alert, expr }) => ({ where: alert, expression: expr })),
];

/** The page, and the metrics, log fields and alerts that its tables and headings name. */
const page = textOf('docs/operating.md');
const firstCells = (section: string) => [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name as string);
const sectionOf = (title: string) => page.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
export const documented = {
  metrics: firstCells(sectionOf('Metrics')),
  logFields: firstCells(sectionOf('Logs')),
  alerts: [...sectionOf('Alerts').matchAll(/^### (\w+)$/gm)].map(([, name]) => name as string),
  health: firstCells(sectionOf('Health')),
};

/** Names of metrics in a query. */
export function metricsIn(expression: string): string[] {
  return [...new Set(expression.match(/\b(?:core|storage|messaging|temporal|process|nodejs)_\w+/g))].filter(
    (name) => !name.startsWith('messaging_operation_name'),
  );
}

/** Labels that a query matches or groups by. Of where a figure comes from, Prometheus itself adds them. */
export function labelsIn(expression: string): string[] {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(', '));
  const matched = [...expression.matchAll(/[{,]\s*(\w+)(?:=~|!~|!=|=)"/g)].map(([, name]) => name as string);
  return [...new Set([...grouped, ...matched])].filter((name) => !['le', 'instance'].includes(name));
}

/** Whether a scrape has a metric of this name; of a histogram, its parts. */
export function has({ types }: Scrape, name: string): boolean {
  const family = /^(.*)_(?:bucket|sum|count)$/.exec(name)?.[1];
  return types.has(name) || (family !== undefined && types.get(family) === 'histogram');
}
