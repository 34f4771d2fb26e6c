/** A definition that organizations get as a draft, to be adapted and published (docs/workflows.md). */
interface WorkflowExample {
  readonly name: string;
  readonly description: string;
  readonly recordKind: string;
  readonly document: Readonly<Record<string, unknown>>;
}

/** They name roles and people of the record only, so that they are valid in every organization. */
export const workflowExamples = [
  {
    name: 'Two approvals complete a task',
    description:
      'A task is completed only when two administrators agree; after five days the owners are asked as well. Only people who may view the task are asked. Name the group that decides in "targets" to let others decide.',
    recordKind: 'task',
    document: {
      schemaType: 'Task',
      workflowKind: 'APPROVAL',
      approvalTiming: 'PRE_COMMIT',
      triggers: [{ operation: 'UPDATE', fields: ['status'], expression: "object.status == 'completed'" }],
      actions: [
        {
          key: 'approve_completion',
          type: 'REQUEST_APPROVAL',
          params: {
            label: 'May this task be completed?',
            targets: [
              { type: 'ROLE', id: 'admin' },
              { type: 'ROLE', id: 'super_admin' },
            ],
            required_count: 2,
            fields: ['status'],
            remind_after: '2d',
            due_in: '5d',
            on_due: 'ESCALATE',
            escalate_to: [{ type: 'RESOLVER', resolver_key: 'OWNER' }],
          },
        },
      ],
    },
  },
  {
    name: 'Notice of urgent tasks',
    description:
      'Notifies the assignee and the owners when an open task has a high priority or gets a due date that has passed.',
    recordKind: 'task',
    document: {
      schemaType: 'Task',
      workflowKind: 'NOTIFICATION',
      triggers: [{ operation: 'CREATE' }, { operation: 'UPDATE', fields: ['priority', 'due_at'] }],
      conditions: [
        { expression: "object.status != 'completed' && object.status != 'wont_do'" },
        { expression: 'object.priority >= 80 || (object.due_at != null && object.due_at < event_time)' },
      ],
      actions: [
        {
          key: 'notify',
          type: 'NOTIFY',
          params: {
            targets: [
              { type: 'RESOLVER', resolver_key: 'ASSIGNEE' },
              { type: 'RESOLVER', resolver_key: 'OWNER' },
            ],
            title: { expr: "'Urgent: ' + object.title" },
            body: 'The task has a high priority, or is overdue.',
          },
        },
      ],
    },
  },
  {
    name: 'Review of role changes',
    description: 'Lets the owners review each new role of a member after it has changed.',
    recordKind: 'membership',
    document: {
      schemaType: 'Membership',
      workflowKind: 'LIFECYCLE',
      approvalTiming: 'POST_COMMIT',
      triggers: [{ operation: 'UPDATE', fields: ['role'] }],
      actions: [
        {
          key: 'review_role',
          type: 'REQUEST_REVIEW',
          params: {
            label: 'Is this role right?',
            targets: [{ type: 'RESOLVER', resolver_key: 'OWNER' }],
            required: false,
            remind_after: '3d',
          },
        },
      ],
    },
  },
] as const satisfies readonly WorkflowExample[];
