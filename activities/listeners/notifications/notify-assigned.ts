import { task } from '#entities/work/task.ts';
import { defineListener, on } from '../listener.ts';
import { notify } from './notify.ts';

export const notifyAssigned = defineListener('notify-assigned', [on(task, 'assigned')], async (delivery) => {
  const { event, unit } = delivery;
  const { userId } = event.payload;
  const found = await unit.data.findOne(task, { id: { eq: event.entityId } });
  // Given to somebody else since, or deleted.
  if (found?.assigneeId !== userId) return;
  const title = 'A task was assigned to you';
  await notify(delivery, { userIds: [userId], module: task, title, body: `${found.displayId}: ${found.title}` });
});
