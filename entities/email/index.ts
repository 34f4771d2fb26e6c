export { accountEmail } from './account-email.ts';
export { accountEmailSuppression } from './account-email-suppression.ts';
export { email } from './email.ts';
export { emailSuppression } from './email-suppression.ts';
