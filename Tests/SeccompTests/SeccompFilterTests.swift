import Seccomp
import Testing

/// Builds filters; `SandboxTests` tests the effect of a loaded one in a separate process.
@Suite struct SeccompFilterTests {
    @Test func callsAndConditionsAreTaken() throws {
        var filter = try SeccompFilter(failingWith: 1)
        try filter.allow("read")
        try filter.allow("socket", if: [SeccompCondition(0, int: 1)])
        try filter.allow("socket", if: [SeccompCondition(0, int: -1), .zero(2)])
        try filter.fail("clone3", with: 38)
    }

    @Test func aCallThatIsNotThereIsNamed() throws {
        var filter = try SeccompFilter(failingWith: 1)
        let error = #expect(throws: SeccompError.self) { try filter.allow("no_such_call") }
        #expect(error?.operation == "no_such_call")
        #expect(error?.number == 2)
    }

    @Test func aCallOfAnotherProcessorIsSkipped() throws {
        var filter = try SeccompFilter(failingWith: 1)
        try filter.allow("_llseek")
    }

    @Test func aConditionOnANegativeNumberLooksAt32Bits() {
        let condition = SeccompCondition(0, int: -1)
        #expect(condition.mask == 0xFFFF_FFFF)
        #expect(condition.value == 0xFFFF_FFFF)
    }
}
