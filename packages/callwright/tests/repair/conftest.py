"""Where no installed package registers how data sets write references, tests that use such texts are
skipped. ``start.py test`` has the lab and runs them all; ``start.py core`` has it not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.repair.ordering.notations import OWN_NOTATIONS, reference_notations

HERE = Path(__file__).parent
REASON = "needs callwright-lab: it registers how data sets write references"
USES_A_DATA_SET_S_NOTATION = {
    "by_model/test_guard.py": {
        "test_a_reference_stands_for_a_number_until_its_call_has_run",
    },
    "by_model/test_refiner.py": {
        "test_chained_calls_are_asked_for_with_labels_and_sorted",
    },
    "ordering/test_arguments.py": {
        "test_a_value_that_only_one_thing_can_be_is_taken",
        "test_what_another_call_has_under_the_same_name_is_taken_if_the_request_holds_it",
        "test_what_is_not_plain_is_not_filled_in",
    },
    "ordering/test_call_flow.py": {
        "test_fields_are_found_at_any_depth",
        "test_only_another_spelling_of_one_key_is_that_key",
    },
    "ordering/test_producer.py": {
        "test_a_producer_is_added_under_the_label_that_was_used",
        "test_a_producer_whose_own_arguments_are_unknown_is_named",
    },
    "ordering/test_references.py": {
        "test_a_label_that_a_call_bears_is_referred_to_even_where_the_prompt_shows_the_notation",
        "test_a_nestools_call_has_one_label_for_each_output",
        "test_an_output_name_that_another_call_returns_is_a_reference_whatever_the_prompt_says",
        "test_calls_without_labels_are_counted",
        "test_every_notation_of_the_field_is_a_reference",
        "test_output_names_count_only_where_tools_return_such_things",
        "test_references_inside_lists_and_objects_are_found_and_rewritten_in_place",
    },
    "ordering/test_references_repair.py": {
        "test_a_call_never_refers_to_itself",
        "test_a_reference_to_a_later_call_is_in_doubt_where_an_earlier_one_returns_the_same",
        "test_a_reference_to_an_output_that_answers_nothing_goes_to_the_one_that_does",
        "test_an_unknown_response_is_pointed_at_the_output_the_argument_plainly_takes",
        "test_lost_response_labels_are_the_numbers_nobody_has",
        "test_output_names_of_tools_are_references_too",
        "test_two_calls_without_labels_are_not_guessed_between",
    },
    "ordering/test_sequence.py": {
        "test_a_call_that_lost_its_label_gets_it_back",
        "test_a_doubtful_reference_is_left_as_it_was_written_and_doubted_again",
        "test_a_field_in_another_spelling_is_respelled",
        "test_a_field_nobody_returns_is_reported_and_left",
        "test_a_label_nobody_has_is_pointed_at_the_one_call_that_returns_the_field",
        "test_a_missing_producer_is_added_before_the_call_that_needs_it",
        "test_a_producer_that_may_write_is_never_added_but_named",
        "test_a_right_list_comes_back_as_the_same_objects",
        "test_calls_that_do_not_need_each_other_share_a_layer",
        "test_calls_that_move_follow_the_numbers_of_their_labels",
        "test_calls_that_wait_for_each_other_are_reported",
        "test_one_of_two_possible_producers_is_never_chosen",
        "test_shuffled_calls_are_sorted_and_the_move_is_listed",
    },
    "rules/test_reply_context.py": {
        "test_a_call_knows_the_values_of_the_others_as_they_were_read",
    },
    "rules/test_calls.py": {
        "test_references_are_neither_converted_nor_doubted",
    },
    "test_registry.py": {
        "test_an_example_does_what_it_says[sequence-field_respelled]",
        "test_an_example_does_what_it_says[sequence-label_added]",
        "test_an_example_does_what_it_says[sequence-producer_added]",
        "test_an_example_does_what_it_says[sequence-reference_relabelled]",
        "test_an_example_does_what_it_says[sequence-topological_order]",
    },
    "rules/test_reference_placeholders.py": {
        "test_references_of_any_type_are_set_aside_and_restored",
    },
    "test_refinement.py": {
        "test_a_prompt_that_shows_the_notation_hides_no_reference",
        "test_an_added_call_bears_its_label_as_the_others_do",
        "test_labels_of_a_list_stay_with_their_calls_whatever_its_order",
    },
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if len(reference_notations()) > len(OWN_NOTATIONS):
        return
    for item in items:
        if HERE in item.path.parents:
            names = USES_A_DATA_SET_S_NOTATION.get(item.path.relative_to(HERE).as_posix(), ())
            if item.name in names or item.name.partition("[")[0] in names:
                item.add_marker(pytest.mark.skip(reason=REASON))
