# The tests of a small build (ATTN_SMALL): softmax by every rule that it has, and words for what it has not.
attn_add_tier_test(softmax softmax.c NEEDS softmax)
attn_add_tier_test(small small.c NEEDS softmax)
add_library(attn_semantics STATIC semantics/trial.c semantics/trial_compare.c semantics/trial_gradients.c)
target_link_libraries(attn_semantics PUBLIC attn_tests)
attn_add_tier_test(semantics_features semantics/features.c NEEDS softmax)
target_link_libraries(test_semantics_features PRIVATE attn_semantics)
