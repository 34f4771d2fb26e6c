import { instanceComparison } from './automation/instance-comparison-rows.ts';
import { entitlementComparison } from './billing/entitlement-comparison-rows.ts';
import { integrationComparison } from './integrations/integration-comparison-rows.ts';
import { accountEmail } from './email/account-email.ts';
import { email } from './email/email.ts';
import { emailComparison } from './email/email-comparison-rows.ts';
import { endpointComparison } from './webhooks/webhook-comparison-rows.ts';
import { lifecycleComparison } from './organizations/lifecycle-comparison-rows.ts';
import type { Comparison } from './kit/outbox/comparison.ts';
import { digestComparison, sendingComparison } from './notifications/notification-comparison-rows.ts';
import { reminderComparison } from './work/task-reminder-rows.ts';

export const areaComparisons: readonly Comparison[] = [
  endpointComparison,
  emailComparison(email),
  emailComparison(accountEmail),
  sendingComparison,
  digestComparison,
  reminderComparison,
  entitlementComparison,
  lifecycleComparison,
  instanceComparison,
  integrationComparison,
];
