import CodecSupport
import Testing
import Zimg

@Suite struct RefusalTests {
    @Test func sizesThatSubsamplingDoesNotDivideAreUnsupported() {
        let error = #expect(throws: CodecError.self) {
            _ = try ZimgGraph(
                ZimgConversion(
                    from: .init(width: 33, height: 20, planes: .yCbCr(.yuv420)),
                    to: .init(width: 16, height: 10, planes: .yCbCr(.yuv420))
                )
            ).scratchBytes
        }
        #expect(error?.kind == .unsupported)
        #expect(error?.text.contains("divisible") == true)
    }

    @Test(arguments: [(0, 10), (10, 0), (-1, 10), (1 << 31, 10)])
    func sizesThatAreNoneAreUnsupported(width: Int, height: Int) {
        let error = #expect(throws: CodecError.self) {
            _ = try ZimgGraph(
                ZimgConversion(
                    from: .init(width: width, height: height, planes: .gray),
                    to: .init(width: 16, height: 10, planes: .gray))
            ).scratchBytes
        }
        #expect(error?.kind == .unsupported, "\(String(describing: error))")
    }

    @Test func regionsThatAreNoneAreUnsupported() {
        for width in [0, -5, Double.nan, .infinity] {
            let error = #expect(throws: CodecError.self) {
                _ = try ZimgGraph(
                    ZimgConversion(
                        from: .init(
                            width: 10, height: 10, planes: .gray,
                            region: .init(width: width, height: 4)),
                        to: .init(width: 5, height: 5, planes: .gray))
                ).scratchBytes
            }
            #expect(error?.kind == .unsupported, "\(width): \(String(describing: error))")
        }
    }

    @Test func planesThatAreSmallOrNotAlignedAreRefused() throws {
        let graph = try ZimgGraph(
            ZimgConversion(
                from: .init(width: 70, height: 10, planes: .gray),
                to: .init(width: 35, height: 5, planes: .gray)))
        let source = TestPlane(70, 10) { x, _ in x }
        let target = TestPlane(35, 5)
        let bytes = UnsafeRawBufferPointer(source.memory)
        let unfit = [
            SampleSource(memory: bytes, stride: 64),
            SampleSource(memory: bytes, stride: 100),
            SampleSource(memory: .init(rebasing: bytes.dropFirst(8)), stride: 128),
            SampleSource(memory: .init(rebasing: bytes.dropLast(1)), stride: 128),
            SampleSource(memory: .init(start: nil, count: 0), stride: 128),
        ]
        for source in unfit {
            do throws(CodecError) {
                try graph.process(from: [source], to: [target.target], isCancelled: never)
                Issue.record("processed \(source)")
            } catch {
                #expect(error.kind == .internal)
            }
        }
        do throws(CodecError) {
            try graph.process(from: [], to: [target.target], isCancelled: never)
            Issue.record("processed nothing")
        } catch {
            #expect(error.kind == .internal)
        }
        try graph.process(from: [source.source], to: [target.target], isCancelled: never)
    }
}
