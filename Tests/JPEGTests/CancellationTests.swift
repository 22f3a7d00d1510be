import CodecSupport
import JPEG
import Testing

@Suite struct CancellationTests {
    @Test(arguments: [false, true], [1, 2, 9])
    func decodingEndsWhereItIsCancelled(isProgressive: Bool, call: Int) throws {
        let bytes = try Image(200, 200, .yuv420, isProgressive: isProgressive).encoded()
        var calls = 0
        let error = #expect(throws: CodecError.self) {
            try decode(bytes) {
                calls += 1
                return calls == call
            }
        }
        #expect(error?.kind == .cancelled)
        #expect(calls == call)
    }

    @Test func everyRowOfEveryScanAsksWhetherToStop() throws {
        for (isProgressive, least) in [(false, 13), (true, 100)] {
            let bytes = try Image(200, 200, .yuv420, isProgressive: isProgressive).encoded()
            var calls = 0
            _ = try decode(bytes) {
                calls += 1
                return false
            }
            #expect(calls >= least)
        }
    }

    @Test(arguments: [false, true], [1, 2, 9])
    func encodingEndsWhereItIsCancelled(isProgressive: Bool, call: Int) throws {
        let image = Image(200, 200, .yuv420, isProgressive: isProgressive)
        var calls = 0
        let error = #expect(throws: CodecError.self) {
            try image.encoded {
                calls += 1
                return calls == call
            }
        }
        #expect(error?.kind == .cancelled)
        #expect(calls == call)
    }

    @Test func encodingEndsWhereTheSinkGivesNoMemory() throws {
        let image = Image(200, 200, .yuv420)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 1)
        defer { memory.deallocate() }
        var asked = 0
        let error = #expect(throws: CodecError.self) {
            try JPEGPlaneEncoder.encode(
                image.planes.map(\.source), as: image.encoding
            ) { minimum in
                #expect(minimum > 0)
                asked += 1
                return asked < 3 ? memory : nil
            } isCancelled: {
                false
            }
        }
        #expect(error?.kind == .refused)
        #expect(asked == 3)
    }
}
