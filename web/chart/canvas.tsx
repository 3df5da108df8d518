import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { themeVersion } from '../state/ui.ts';
import { colorsOf, paint, type Stroke } from './strokes.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Returns a ref and the current size of its element, in CSS pixels. The first size is measured before the first paint. */
export function useSize<E extends HTMLElement>(): { ref: { current: E | null }; size: Size } {
  const ref = useRef<E>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current!;
    const read = () => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((known) => (known.width === width && known.height === height ? known : { width, height }));
    };
    read();
    const observer = new ResizeObserver(read);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, size };
}

/** Renders a canvas at the resolution of the device. Screen readers read a text alternative and a table instead of the canvas. */
export function StrokeCanvas({ strokes, size }: { strokes: readonly Stroke[]; size: Size }) {
  const ref = useRef<HTMLCanvasElement>(null);
  const version = themeVersion.value;
  useEffect(() => {
    const canvas = ref.current!;
    if (size.width === 0 || size.height === 0) return;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = canvas.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint(context, strokes, colorsOf(canvas), size);
  }, [strokes, size, version]);
  return <canvas ref={ref} class="marks" aria-hidden="true" />;
}
