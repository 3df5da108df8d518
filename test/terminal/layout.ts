import type { Page } from 'playwright-core';

/**
 * Returns texts that are cut off, with where they stand: texts that reach out of a part that hides what reaches out of it, and texts that end
 * in an ellipsis while nothing else has the whole of them. Not cut off is what can be scrolled into view, and what a button beside it opens.
 */
export function cutTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found = new Set<string>();
    const hides = (overflow: string) => overflow === 'hidden' || overflow === 'clip';
    const scrolls = (overflow: string) => overflow === 'auto' || overflow === 'scroll';
    const styles = new Map<Element, CSSStyleDeclaration>();
    const styleOf = (element: Element) => {
      const known = styles.get(element) ?? getComputedStyle(element);
      styles.set(element, known);
      return known;
    };
    /** Which part cuts the text of an element at a place, or undefined. */
    const cutting = (element: Element, rect: DOMRect): Element | undefined => {
      for (let part: Element | null = element; part; part = part.parentElement) {
        const { overflowX, overflowY, position } = styleOf(part);
        if (scrolls(overflowX) || scrolls(overflowY) || position === 'fixed') return undefined;
        const box = part.getBoundingClientRect();
        if (hides(overflowX) && (rect.right > box.right + 1 || rect.left < box.left - 1)) return part;
        // A fifth of a line is the room above and below its letters.
        const slack = 0.2 * rect.height;
        if (hides(overflowY) && (rect.bottom > box.bottom + slack || rect.top < box.top - slack)) return part;
      }
      return undefined;
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent!.trim();
      const element = node.parentElement!;
      if (!text || element.closest('.spoken, script, option') || !element.checkVisibility({ visibilityProperty: true }))
        continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        const part = rect.width < 1 ? undefined : cutting(element, rect);
        const whole = element.closest('[title]')?.getAttribute('title') ?? '';
        if (!part || whole.includes(text)) continue;
        const button = part.closest('.ribbon')?.querySelector('button');
        if (button?.checkVisibility()) continue;
        found.add(`${part.tagName.toLowerCase()}.${part.getAttribute('class') ?? ''} "${text.slice(0, 60)}"`);
      }
    }
    return [...found];
  });
}

/** Returns how far the page, and its view, can be scrolled sideways, pixels. */
export function sidewaysOf(page: Page): Promise<number> {
  return page.evaluate(() =>
    Math.max(
      ...[document.documentElement, document.querySelector('main')!].map((each) => each.scrollWidth - each.clientWidth),
    ),
  );
}

/** Something that a pointer can press. */
export interface Target {
  readonly name: string;
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the targets of a page that are smaller than a size, pixels. Three exceptions are those of WCAG 2.5.8: a link within a sentence
 * (inline), a small target with no other one within 24 pixels (spacing), and a box whose label is pressed with it (equivalent). What is
 * beyond the edge of the page until it has the focus, such as the skip link, is no target of a pointer.
 */
export function smallTargets(page: Page, least: number): Promise<Target[]> {
  return page.evaluate((size) => {
    const PRESSED = 'a[href], button, input, select, textarea, summary, [role="columnheader"], [role="option"]';
    const all = [...document.querySelectorAll<HTMLElement>(PRESSED)].filter((each) => {
      const { right, bottom } = each.getBoundingClientRect();
      return each.checkVisibility({ visibilityProperty: true }) && right > 0 && bottom > -1e4;
    });
    const boxOf = (each: HTMLElement) => {
      const [own, label] = [each, each.closest('label') ?? each].map((part) => part.getBoundingClientRect());
      return own!.width * own!.height < label!.width * label!.height ? label! : own!;
    };
    const isInline = (each: HTMLElement) =>
      getComputedStyle(each).display === 'inline' &&
      [...each.parentElement!.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent!.trim());
    const middle = ({ left, top, width, height }: DOMRect) => [left + width / 2, top + height / 2] as const;
    const isAlone = (each: HTMLElement) => {
      const [x, y] = middle(boxOf(each));
      return all.every((other) => {
        if (other === each) return true;
        const { left, right, top, bottom } = boxOf(other);
        const toBox = Math.hypot(Math.max(left - x, x - right, 0), Math.max(top - y, y - bottom, 0));
        const [otherX, otherY] = middle(boxOf(other));
        const isSmallToo = right - left < 24 || bottom - top < 24;
        return toBox >= 12 && (!isSmallToo || Math.hypot(otherX - x, otherY - y) >= 24);
      });
    };
    return all.flatMap((each) => {
      const { width, height } = boxOf(each);
      const isLarge = width > size - 0.5 && height > size - 0.5;
      if (isLarge || isInline(each) || (size <= 24 && isAlone(each))) return [];
      const name = each.getAttribute('aria-label') ?? each.textContent!.trim();
      return [{ name: `${each.tagName.toLowerCase()}.${each.className} "${name}"`, width, height }];
    });
  }, least);
}

/**
 * Returns what is wrong with the places of the texts of charts: two texts that overlap, and a text that reaches out of its plot or its chart.
 * Texts at the cursor are left out, because they cover the axis, and so are rows of a list that are scrolled out of view.
 */
export function misplacedTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const SLACK = 1;
    const found: string[] = [];
    const textRect = (element: Element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.getBoundingClientRect();
    };
    const within = (inner: DOMRect, outer: DOMRect) =>
      inner.left >= outer.left - SLACK &&
      inner.right <= outer.right + SLACK &&
      inner.top >= outer.top - SLACK - 2 &&
      inner.bottom <= outer.bottom + SLACK + 2;
    for (const chart of document.querySelectorAll<HTMLElement>('[data-chart]')) {
      const name = chart.dataset.chart!;
      const texts = [...chart.querySelectorAll('[data-label], svg text, .level')].flatMap((element) => {
        const text = element.textContent!.trim();
        if (!text || !element.checkVisibility({ visibilityProperty: true }) || element.closest('.spoken')) return [];
        const rect = textRect(element);
        const list = element.closest('ul');
        const isScrolled =
          list && list.scrollHeight > list.clientHeight + 1 && !within(rect, list.getBoundingClientRect());
        return isScrolled ? [] : [{ element, text, rect }];
      });
      for (const [i, one] of texts.entries()) {
        const frame = one.element.closest('.plot') ?? chart;
        if (!within(one.rect, frame.getBoundingClientRect()))
          found.push(`${name}: "${one.text}" leaves its ${frame.className}`);
        for (const other of texts.slice(i + 1)) {
          if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
          const wide = Math.min(one.rect.right, other.rect.right) - Math.max(one.rect.left, other.rect.left);
          const high = Math.min(one.rect.bottom, other.rect.bottom) - Math.max(one.rect.top, other.rect.top);
          // The boxes of two lines of text may touch: the letters are lower than the boxes.
          if (wide > SLACK && high > 3) found.push(`${name}: "${one.text}" overlaps "${other.text}"`);
        }
      }
    }
    return found;
  });
}

/** Returns for each chart the names of the levels that it shows, as a label or as a button at the end of its axis. */
export function levelsShown(page: Page): Promise<Record<string, number>> {
  return page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll<HTMLElement>('[data-chart]')].flatMap((chart) => {
        const shown = chart.querySelectorAll('.level-labels .level').length;
        return shown > 0 ? [[chart.dataset.chart!, shown]] : [];
      }),
    ),
  );
}
