import { localInstant, type Locale } from '#entities/kit/base/localized.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { task } from '#entities/work/task.ts';

export const taskLines = ['{{displayId}}: {{title}}', 'Due {{due}}'] as const;

export function taskValues({ displayId, title, dueAt }: Pick<RowOf<typeof task>, 'displayId' | 'title' | 'dueAt'>) {
  return (locale: Locale) => ({ displayId, title, due: dueAt === null ? '' : localInstant(dueAt, locale) });
}

export const taskSample = {
  displayId: 'TSK-7',
  title: 'Review the access rights',
  due: 'June 1, 2026 at 5:00 PM UTC',
} as const;

/** Whether nothing is left to do: such tasks are neither assigned nor due in a mail. */
export function isEnded(status: RowOf<typeof task>['status']): boolean {
  return status === 'completed' || status === 'wont_do';
}

export function pageOfTask({ id }: { readonly id: string }): string {
  return `/tasks/${id}`;
}
