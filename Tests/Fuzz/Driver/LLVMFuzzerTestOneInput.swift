import FuzzTargets

/// libFuzzer calls this with each input and detects failures by a crash. The main function of this
/// program is libFuzzer's own (https://llvm.org/docs/LibFuzzer.html).
@c(LLVMFuzzerTestOneInput)
func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do throws(BrokenInvariant) {
        try ChosenTarget.value.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch {
        fatalError("broken invariant of \(ChosenTarget.value.rawValue): \(error.what)")
    }
    return 0
}
