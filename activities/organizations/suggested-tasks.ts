import type { task } from '#entities/work/task.ts';
import type { CreationOf } from '#entities/kit/model/define.ts';

/** First tasks of an organization. Their external ids say where they come from, and keep them from being created twice. */
export const suggestedTasks: readonly (CreationOf<typeof task> & { readonly externalId: string })[] = [
  {
    externalId: 'onboarding/invite-members',
    title: 'Invite the people you work with',
    details:
      'Invite them by their e-mail addresses. Each invitation gives a role: members work with the records that concern them, auditors read them, admins manage people and settings.',
  },
  {
    externalId: 'onboarding/second-owner',
    title: 'Name a second owner',
    details: 'An organization needs an owner at any time. With two, one can be away.',
  },
  {
    externalId: 'onboarding/require-second-factor',
    title: 'Require a second factor',
    details: 'Members without one can set it up when they next enter the organization.',
  },
  {
    externalId: 'onboarding/single-sign-on',
    title: 'Set up single sign-on',
    details: 'Members then sign in with the identity provider of your company.',
  },
];
