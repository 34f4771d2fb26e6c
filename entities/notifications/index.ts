export { notification } from './notification.ts';
export { notificationPreference } from './notification-preference.ts';
export { notificationTemplate } from './notification-template.ts';
