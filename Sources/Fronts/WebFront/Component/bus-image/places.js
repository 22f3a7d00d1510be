// Detects elements near the viewport, with one observer per margin.

const observers = new Map();
const listeners = new WeakMap();

/**
 * @param {Element} element
 * @param {string} margin such as `300px`
 * @param {(isNear: boolean) => void} listener
 */
export function observe(element, margin, listener) {
  listeners.set(element, { listener, margin });
  observerOf(margin).observe(element);
}

export function unobserve(element) {
  const known = listeners.get(element);
  if (!known) return;
  listeners.delete(element);
  observerOf(known.margin).unobserve(element);
}

function observerOf(margin) {
  let observer = observers.get(margin);
  if (!observer) {
    observer = new IntersectionObserver(tell, { rootMargin: margin });
    observers.set(margin, observer);
  }
  return observer;
}

function tell(entries) {
  // If there are several entries for an element, the last one is current.
  for (const { target, isIntersecting } of entries) {
    listeners.get(target)?.listener(isIntersecting);
  }
}
