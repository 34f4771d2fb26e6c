import { withoutMarkup } from '#entities/kit/model/mentions.ts';
import { note } from '#entities/work/note.ts';
import { task } from '#entities/work/task.ts';
import { defineListener, on } from '../listener.ts';
import { notify } from './notify.ts';

export const notifyMentionedInTask = defineListener(
  'notify-mentioned-in-task',
  [on(task, 'mentioned')],
  async (delivery) => {
    const { event, unit } = delivery;
    const { userIds } = event.payload;
    const found = await unit.data.findOne(task, { id: { eq: event.entityId } });
    if (!found) return;
    const title = 'You were mentioned in a task';
    await notify(delivery, { userIds, module: task, title, body: `${found.displayId}: ${found.title}` });
  },
);

export const notifyMentionedInNote = defineListener(
  'notify-mentioned-in-note',
  [on(note, 'mentioned')],
  async (delivery) => {
    const { event, unit } = delivery;
    const { userIds } = event.payload;
    const found = await unit.data.findOne(note, { id: { eq: event.entityId } });
    if (!found) return;
    const title = 'You were mentioned in a comment';
    await notify(delivery, { userIds, module: note, title, body: withoutMarkup(found.text) });
  },
);
