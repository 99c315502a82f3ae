"""The time of numpy.linalg.lstsq for a ready matrix: lstsq.py FILE N DT_S, FILE as bench_identify writes it (t,
three efforts, three velocities, N doubles each). Prints CPU seconds and the nine parameters.
"""
import sys, time
try:
    import numpy as np
except ImportError:
    sys.exit(77)
n, dt = int(sys.argv[2]), float(sys.argv[3])
data = np.fromfile(sys.argv[1]).reshape(7, n)
tau = 0.5 * (data[1:4, 1:-1] + data[1:4, :-2])
u, v, r = data[4:, 1:-1]
du, dv, dr = (data[4:, 2:] - data[4:, :-2]) / (2 * dt)
zero = np.zeros(n - 2)
a = np.empty((3 * (n - 2), 9))
a[0::3] = np.column_stack((du, -v * r, zero, u, np.abs(u) * u, zero, zero, zero, zero))
a[1::3] = np.column_stack((u * r, dv, zero, zero, zero, v, np.abs(v) * v, zero, zero))
a[2::3] = np.column_stack((-u * v, u * v, dr, zero, zero, zero, zero, r, np.abs(r) * r))
b = tau.T.ravel()
best = float("inf")
for _ in range(5):
    begin = time.process_time()
    theta = np.linalg.lstsq(a, b, rcond=None)[0]
    best = min(best, time.process_time() - begin)
print(best, *(repr(float(x)) for x in theta))
