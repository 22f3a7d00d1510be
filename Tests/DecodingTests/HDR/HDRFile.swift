import Glibc
import TestKit

/// High-dynamic-range files made by other programs, and the sRGB colors of their samples by
/// BT.2100.
enum HDRFile {
    static let (pq, hlg) = (16, 18)
    static let (bt709, bt2020, p3) = (1, 9, 12)

    /// A 16-bit PNG compressed by Python's zlib, with a cICP chunk unless `cicp` is empty.
    static func png(_ samples: [[Int]], bands: Int, cicp: [Int]) throws -> [UInt8] {
        let text = samples.flatMap { $0 }.map { "\($0)" }.joined(separator: " ")
        let script = """
            import sys, struct, zlib
            bands, cicp = int(sys.argv[1]), [int(n) for n in sys.argv[2].split()]
            samples = [int(n) for n in sys.stdin.read().split()]
            def chunk(kind, data):
                crc = zlib.crc32(kind + data)
                return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', crc)
            width = len(samples) // bands
            out = b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack(
                '>IIBBBBB', width, 1, 16, [0, 4, 2, 6][bands - 1], 0, 0, 0))
            if cicp: out += chunk(b'cICP', bytes(cicp))
            row = b'\\0' + struct.pack('>%dH' % len(samples), *samples)
            out += chunk(b'IDAT', zlib.compress(row)) + chunk(b'IEND', b'')
            sys.stdout.buffer.write(out)
            """
        let numbers = cicp.map { "\($0)" }.joined(separator: " ")
        return try Tool.run(
            ["python3", "-c", script, "\(bands)", numbers], input: Array(text.utf8))
    }

    /// Converts samples from 0 to 1 to 8-bit sRGB by the tables of BT.2100 and IEC 61966-2-1, with
    /// white at 203 cd/m².
    static func srgb(_ sample: [Double], primaries: Int, transfer: Int) -> [Double] {
        let light = transfer == pq ? sample.map(pqNits) : hlgNits(sample, primaries)
        return matrix(primaries).map { row in
            let linear = zip(row, light).reduce(0) { $0 + $1.0 * $1.1 } / 203
            let bounded = min(max(linear, 0), 1)
            let coded =
                bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * pow(bounded, 1 / 2.4) - 0.055
            return coded * 255
        }
    }

    private static func pqNits(_ sample: Double) -> Double {
        let power = pow(sample, 1 / 78.84375)
        return 10_000
            * pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125)
    }

    private static func hlgNits(_ sample: [Double], _ primaries: Int) -> [Double] {
        let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
        let scene = sample.map { $0 <= 0.5 ? $0 * $0 / 3 : (exp(($0 - c) / a) + b) / 12 }
        let weights =
            [
                bt709: [0.2126, 0.7152, 0.0722], bt2020: [0.2627, 0.6780, 0.0593],
                p3: [0.22897, 0.69174, 0.07929],
            ][primaries] ?? []
        let light = zip(weights, scene).reduce(0) { $0 + $1.0 * $1.1 }
        return scene.map { 1_000 * pow(light, 0.2) * $0 }
    }

    /// Derived from the chromaticities through XYZ, independently of the program's constants.
    private static func matrix(_ primaries: Int) -> [[Double]] {
        let srgb = [(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)]
        let points =
            [
                bt709: srgb, bt2020: [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)],
                p3: [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)],
            ][primaries] ?? []
        return product(inverse(toXYZ(srgb)), toXYZ(points))
    }

    private static func toXYZ(_ points: [(Double, Double)]) -> [[Double]] {
        let columns = points.map { [$0.0 / $0.1, 1, (1 - $0.0 - $0.1) / $0.1] }
        let plain = (0..<3).map { row in columns.map { $0[row] } }
        let white = [[0.3127 / 0.3290], [1], [(1 - 0.3127 - 0.3290) / 0.3290]]
        let scale = product(inverse(plain), white)
        return plain.map { row in zip(row, scale).map { $0 * $1[0] } }
    }

    private static func product(_ left: [[Double]], _ right: [[Double]]) -> [[Double]] {
        left.map { row in
            right[0].indices.map { column in
                row.indices.reduce(0) { $0 + row[$1] * right[$1][column] }
            }
        }
    }

    private static func inverse(_ m: [[Double]]) -> [[Double]] {
        func minor(_ row: Int, _ column: Int) -> Double {
            let (r, c) = ([1, 2, 0, 1], [1, 2, 0, 1])
            return m[r[row]][c[column]] * m[r[row + 1]][c[column + 1]]
                - m[r[row]][c[column + 1]] * m[r[row + 1]][c[column]]
        }
        let all = (0..<3).map { row in (0..<3).map { minor(row, $0) } }
        let determinant = (0..<3).reduce(0) { $0 + m[0][$1] * all[0][$1] }
        return (0..<3).map { row in (0..<3).map { all[$0][row] / determinant } }
    }
}
