import { firstIdAt } from '#entities/kit/base/ids.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { deletionTime, lifecycleOf, noticeDelayS } from '#entities/organizations/lifecycle.ts';
import { lifecycleCandidates } from '#entities/organizations/lifecycle-rows.ts';
import { peopleOfDeletion } from '#entities/organizations/deletion-audience-rows.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';
import { spare } from '../../billing/spare-if-paid.ts';
import { defineSweep } from '../define-sweep.ts';
import { factsOf } from './lifecycle-facts.ts';

const firstId = firstIdAt(new Date(0));
const dayMs = 86_400_000;
const everyMs = 21_600_000;

/** Marks what nobody pays for, and announces its deletion. The event of each notice is in the transaction of its row, so each is sent once. */
export const remindPaymentMethodSweep = defineSweep({
  name: 'remindPaymentMethod',
  description: 'Marks organizations that nobody pays for, announces their deletion, and spares those that pay.',
  queue: 'organizations',
  every: everyMs,
  settings: ({ integrations: { paymentreminder } }) => ({
    isEnabled: paymentreminder.enabled,
    isDryRun: paymentreminder.dryrun,
  }),
  find: (unit, { after: [after = firstId] = [], ...selection }) =>
    factsOf(unit, selection, (more) => lifecycleCandidates(unit, { ...more, after })),
  lock: ({ data }, id) => data.findLocked(organization, id),
  decide: (facts, { now, config }) => {
    const decided = lifecycleOf(facts, config.integrations.paymentreminder, now);
    if (decided.action === 'announce') return { action: decided.notice, reason: decided.reason };
    const { action, reason } = decided;
    return action === 'delete' ? { action: null, reason: 'its deletion is due' } : { action, reason };
  },
  act: async (unit, facts, action, { now, config, acted }) => {
    const { paymentreminder } = config.integrations;
    if (action === 'spare') return spare(unit, facts, now);
    const at =
      action === 'mark'
        ? new Date(now.getTime() + paymentreminder.deletiondays * dayMs)
        : deletionTime(facts, paymentreminder);
    await unit.data.update(organizationSetting, facts.settingsId ?? '', {
      ...(action === 'mark' ? { markedForDeletionAt: now } : {}),
      deletionNotBefore: at,
      deletionNotice: action === 'mark' ? 'marked' : action,
    });
    const notice = {
      notBefore: at.toISOString(),
      userIds: await peopleOfDeletion(unit, facts.id),
      delayS: noticeDelayS(acted, { everyMs, leftMs: at.getTime() - now.getTime() }),
    };
    unit.emit(
      action === 'mark' || action === 'marked'
        ? customEvent(organization, 'marked_for_deletion', facts, notice)
        : customEvent(organization, 'deletion_nearing', facts, { ...notice, notice: action }),
    );
  },
  reports: (startedAt) => ({ message: 'organizations-marked', since: startedAt }),
});
