import { user } from '#entities/identity/user.ts';
import { mentionedIn, withoutMarkup } from '#entities/kit/model/mentions.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { membership } from '#entities/organizations/membership.ts';
import { discussion } from '#entities/work/discussion.ts';
import { note } from '#entities/work/note.ts';
import { task } from '#entities/work/task.ts';
import { peopleOfPayload } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';
import { taskSample } from '../task-text.ts';

export const noteMentioned = defineNotification(note, 'mentioned', {
  listener: 'notify-mentioned-in-note',
  description: 'people whom a note mentions',
  audience: peopleOfPayload,
  text: {
    title: '{{actor}} mentioned you in a comment',
    body: ['{{displayId}}: {{title}}', '{{text}}'],
    many: 'You were mentioned in {{count}} comments',
  },
  values: async ({ record, actorName, unit }) => {
    const about = await taskOf(record, unit);
    const values = {
      actor: actorName,
      displayId: about?.displayId ?? '',
      title: about?.title ?? '',
      text: withoutMarkup(record.text, await namesIn(record, unit)),
    };
    return () => values;
  },
  sample: {
    actor: 'Ann Example',
    displayId: taskSample.displayId,
    title: taskSample.title,
    text: '@Jo Example, can you look at this?',
  },
  link: ({ id }) => `/notes/${id}`,
  unsubscribesFrom: 'mentions of you in comments',
});

/** The task on which a note comments, also in a discussion. */
async function taskOf({ taskId, discussionId }: RowOf<typeof note>, { data }: UnitOfWork) {
  const held = discussionId === null ? undefined : await data.findOne(discussion, { id: { eq: discussionId } });
  const id = taskId ?? held?.taskId;
  return id === undefined || id === null ? undefined : data.findOne(task, { id: { eq: id } });
}

/** Current names of the members whom a note mentions, by id; of others the text has what its author wrote. */
async function namesIn({ text, organizationId }: RowOf<typeof note>, { data }: UnitOfWork) {
  const ids = [...mentionedIn(text)];
  if (ids.length === 0) return new Map<string, string>();
  const members = await data.find(membership, {
    where: { userId: { in: ids }, organizationId: { eq: organizationId } },
    limit: ids.length,
  });
  const where = { id: { in: members.map(({ userId }) => userId) } };
  const people = members.length === 0 ? [] : await data.find(user, { where, limit: members.length });
  return new Map(people.map(({ id, displayName }) => [id, displayName]));
}
